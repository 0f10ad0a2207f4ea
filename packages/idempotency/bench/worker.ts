import { consumeOnce } from "../src/index.ts";
import type { Counted, Run } from "./run-types.ts";

interface Env {
  DB: D1Database;
}

type Effect = () => Promise<unknown>;

// The usual ways are as articles have them: one message after the other. "side by side" shows how much of the gain is
// the waiting and how much the statements.
const strategies: Record<
  string,
  (keys: string[], db: D1Database, effect: Effect) => Promise<void>
> = {
  "SELECT, effect, INSERT": async (keys, db, effect) => {
    for (const key of keys) await selectThenInsert(key, db, effect);
  },
  "INSERT OR IGNORE, effect": async (keys, db, effect) => {
    for (const key of keys) {
      const { meta } = await db
        .prepare("INSERT OR IGNORE INTO seen (key) VALUES (?)")
        .bind(key)
        .run();
      if (meta.changes === 1) await effect();
    }
  },
  "SELECT, effect, INSERT, side by side": async (
    keys: string[],
    db: D1Database,
    effect: Effect,
  ) => {
    await Promise.all(keys.map((key) => selectThenInsert(key, db, effect)));
  },
  // 20 at a time, as by default.
  consumeOnce: (keys, db, effect) => consume(keys, db, effect),
  // The floor: what the effects alone take, 20 at a time.
  "effects alone": async (keys, _db, effect) => {
    const waiting = keys.values();
    const lane = async () => {
      while (waiting.next().done !== true) await effect();
    };
    await Promise.all(Array.from({ length: 20 }, lane));
  },
};

async function selectThenInsert(key: string, db: D1Database, effect: Effect): Promise<void> {
  const row = await db.prepare("SELECT key FROM seen WHERE key = ?").bind(key).first();
  if (row !== null) return;
  await effect();
  await db.prepare("INSERT INTO seen (key) VALUES (?)").bind(key).run();
}

async function consume(keys: string[], db: D1Database, effect: Effect): Promise<void> {
  const outcomes = await consumeOnce(batchOf(keys), {
    db,
    key: ({ body }) => body,
    handler: effect,
  });
  const failed = outcomes.find(({ outcome }) => outcome !== "done");
  if (failed) throw new Error(`A message ended as ${failed.outcome}`, { cause: failed.error });
}

function batchOf(keys: string[]): MessageBatch<string> {
  const nothing = () => undefined;
  return {
    queue: "bench",
    metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } },
    ackAll: nothing,
    retryAll: nothing,
    messages: keys.map((body, n) => ({
      id: `m${n}`,
      timestamp: new Date(0),
      attempts: 1,
      body,
      ack: nothing,
      retry: nothing,
    })),
  };
}

async function run({ strategy, size, effectMs }: Run, env: Env): Promise<Counted> {
  const counted = { statements: 0, effects: 0 };
  const db = new Proxy(env.DB, {
    get(target, property) {
      if (property !== "prepare") return Reflect.get(target, property);
      return (sql: string) => {
        counted.statements += 1;
        return target.prepare(sql);
      };
    },
  });
  const keys = Array.from({ length: size }, () => crypto.randomUUID());
  const consumeWith = strategies[strategy];
  if (consumeWith === undefined) throw new Error(`There is no strategy "${strategy}"`);
  await consumeWith(keys, db, async () => {
    counted.effects += 1;
    if (effectMs > 0) await scheduler.wait(effectMs);
  });
  return counted;
}

export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname === "/setup") {
      const statements = await request.json<string[]>();
      await env.DB.batch(statements.map((sql) => env.DB.prepare(sql)));
      return Response.json(Object.keys(strategies));
    }
    return Response.json(await run(await request.json<Run>(), env));
  },
} satisfies ExportedHandler<Env>;
