import type { D1Migration } from "cloudflare:test";
import { consumeOnce, PermanentError } from "../src/index.ts";
import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";

export interface GreetParams {
  name: string;
}

/** A message of the real queue. The first `failures` handlings of it fail. */
export interface Mail {
  to: string;
  failures?: number;
}

declare global {
  namespace Cloudflare {
    interface Env {
      DB: D1Database;
      GREET: Workflow<GreetParams>;
      MAIL: Queue;
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

export default {
  async queue(batch, env) {
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
