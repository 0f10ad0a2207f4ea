import { join } from "node:path";
import { createTestHarness, unstable_readConfig } from "wrangler";

export const lesson = join(import.meta.dirname, "..", "..");

/** The secret of the tests. */
export const TOKEN = "token-of-ada";

/** What happened to one batch of a queue. */
export interface Delivery {
  size: number;
  /** Ids of messages. */
  acked: string[];
  retried: string[];
  /** The signups of the acked ones, as far as their bodies name any. */
  signups: string[];
}

/** Producer and consumer, as they are deployed, on a workerd of their own with fresh storage. */
export async function startWorkers() {
  process.env["CLOUDFLARE_CF_FETCH_ENABLED"] ??= "false";
  process.env["WRANGLER_LOG"] ??= "error";
  const consumer = unstable_readConfig({ config: join(lesson, "wrangler.consumer.jsonc") });
  const harness = createTestHarness({
    root: lesson,
    workers: [
      { configPath: "wrangler.producer.jsonc", secrets: { ADMIN_TOKENS: `ada:${TOKEN}` } },
      // The consumer, with somebody who notes what it does with each message.
      { config: { ...consumer, main: join(import.meta.dirname, "watched-consumer.ts") } },
    ],
  });
  try {
    const { url } = await harness.listen();
    const worker = harness.getWorker("signup-consumer");
    await worker.applyD1Migrations("DB");
    await worker.applyD1Migrations("WORLD");
    const { SIGNUPS } = await harness.getWorker("signup-producer").getEnv();
    const { DB, WORLD } = await worker.getEnv();
    const bindings: { SIGNUPS: Queue; DB: D1Database; WORLD: D1Database } = { SIGNUPS, DB, WORLD };
    return {
      ...bindings,
      url: String(url),
      close: () => harness.close(),
      fetch: (path: string, init?: RequestInit) => fetch(new URL(path, url), init),
    };
  } catch (error) {
    await harness.close();
    throw error;
  }
}

export type Workers = Awaited<ReturnType<typeof startWorkers>>;

/** The batches of a queue that were delivered so far. */
export async function deliveries({ WORLD }: Workers, queue: string): Promise<Delivery[]> {
  const { results } = await WORLD.prepare(
    "SELECT detail FROM observations WHERE run = 'test' AND kind = ?1 ORDER BY id",
  )
    .bind(queue)
    .all<{ detail: string }>();
  return results.map(({ detail }) => JSON.parse(detail) as Delivery);
}

export async function count(db: D1Database, sql: string, ...values: unknown[]): Promise<number> {
  const row = await db
    .prepare(`SELECT COUNT(*) AS n FROM ${sql}`)
    .bind(...values)
    .first<{ n: number }>();
  return row?.n ?? 0;
}
