import type { D1Migration } from "cloudflare:test";
import { consumeOnce, PermanentError } from "../src/index.ts";
import { FRAGILE_TIMES } from "./fragile.ts";
import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";

export interface GreetParams {
  name: string;
}

/** A message of the real queue. The first `failures` handlings of it fail. */
export interface Mail {
  to: string;
  failures?: number;
}

/** A message of the queue whose consumer dies in the middle of the first `deaths` tries of its work. */
export interface Fragile {
  key: string;
  deaths: number;
}

declare global {
  namespace Cloudflare {
    interface Env {
      DB: D1Database;
      GREET: Workflow<GreetParams>;
      MAIL: Queue;
      FRAGILE: Queue<Fragile>;
      SCHEDULES: number;
      PROPERTY_SEED: number;
      TEST_MIGRATIONS: D1Migration[];
    }
  }
}

export class GreetWorkflow extends WorkflowEntrypoint<Cloudflare.Env, GreetParams> {
  override async run(event: Readonly<WorkflowEvent<GreetParams>>, step: WorkflowStep) {
    return step.do("greet", async () => `hello ${event.payload.name}`);
  }
}

/** What died can do nothing more: not even give its leases back. */
async function consumeUntilDeath(batch: MessageBatch<Fragile>, env: Cloudflare.Env): Promise<void> {
  const death = Promise.withResolvers<never>();
  let dead = false;
  const note = (what: string, { key }: { key: string }) =>
    env.DB.prepare("INSERT INTO notes (what, key) VALUES (?, ?)").bind(what, key).run();
  for (const { body, attempts } of batch.messages) await note(`delivery ${attempts}`, body);
  const consumed = consumeOnce(batch, {
    ...FRAGILE_TIMES,
    db: {
      prepare: (sql) => {
        if (dead) throw new Error("[simulated] dead");
        return env.DB.prepare(sql);
      },
    },
    key: ({ body }) => body.key,
    handler: async ({ body }) => {
      await note("try", body);
      const tries = await env.DB.prepare(
        "SELECT count(*) AS n FROM notes WHERE what = 'try' AND key = ?",
      )
        .bind(body.key)
        .first<number>("n");
      if ((tries ?? 0) > body.deaths) return;
      dead = true;
      death.reject(new Error("[simulated] the consumer died"));
      // What is dead marks no message either.
      await new Promise(() => undefined);
    },
  });
  for (const { key = "", outcome } of await Promise.race([death.promise, consumed])) {
    if (outcome === "done") await note("done", { key });
  }
}

export default {
  async queue(batch, env) {
    if (batch.queue === "fragile") {
      await consumeUntilDeath(batch as MessageBatch<Fragile>, env);
      return;
    }
    if (batch.queue === "fragile-dead") {
      const { key } = (batch as MessageBatch<Fragile>).messages[0]?.body ?? { key: "" };
      await env.DB.prepare("INSERT INTO notes (what, key) VALUES ('dead', ?)").bind(key).run();
      return;
    }
    const outcomes = await consumeOnce<Mail>(batch as MessageBatch<Mail>, {
      db: env.DB,
      key: ({ body }) => {
        // Whatever anybody put into the queue comes out of it.
        if (typeof body?.to !== "string") throw new TypeError("A mail needs a recipient");
        return `mail:${body.to}`;
      },
      handler: async ({ body, attempts }) => {
        if (attempts <= (body.failures ?? 0)) throw new Error("[simulated] mail is down");
        if (body.to.startsWith("nobody")) throw new PermanentError("There is nobody");
        await env.DB.prepare("INSERT INTO sent (recipient) VALUES (?)").bind(body.to).run();
      },
      onPermanentFailure: ({ id }, error) =>
        env.DB.prepare("INSERT INTO parked (id, reason) VALUES (?, ?)")
          .bind(id, String(error))
          .run(),
      backoff: { baseSeconds: 1, maxSeconds: 1 },
    });
    const acked = outcomes.filter((outcome) => outcome.delaySeconds === undefined);
    await env.DB.prepare("INSERT INTO acked (id) SELECT value FROM json_each(?)")
      .bind(JSON.stringify(acked.map(({ messageId }) => messageId)))
      .run();
  },
} satisfies ExportedHandler<Cloudflare.Env>;
