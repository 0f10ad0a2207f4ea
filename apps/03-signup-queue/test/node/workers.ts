import { join } from "node:path";
import { effectsOf, observationsOf } from "@durable-lessons/outside-world";
import { anotherCaller } from "@durable-lessons/test-kit/caller";
import { createTestHarness, unstable_readConfig } from "wrangler";

export const lesson = join(import.meta.dirname, "..", "..");

/** The secret of the tests. */
export const TOKEN = "token-of-ada-for-these-tests";

/** What happened to one batch of a queue. */
export interface Delivery {
  size: number;
  /** Ids of messages. */
  acked: string[];
  retried: string[];
  /** The signups of the acked ones, as far as their bodies name any. */
  signups: string[];
}

/** A batch is full, or waits no longer than a second: 5 in `wrangler.consumer.jsonc`. */
const quick = (settings: object) => ({ ...settings, max_batch_timeout: 1 });

/**
 * Producer and consumer, as they are deployed, on a workerd of their own with fresh storage.
 *
 * @param secrets of the consumer
 */
export async function startWorkers(secrets: Record<string, string> = {}) {
  process.env["CLOUDFLARE_CF_FETCH_ENABLED"] ??= "false";
  process.env["WRANGLER_LOG"] ??= "error";
  const consumer = unstable_readConfig({ config: join(lesson, "wrangler.consumer.jsonc") });
  const harness = createTestHarness({
    root: lesson,
    workers: [
      { configPath: "wrangler.producer.jsonc", secrets: { ADMIN_TOKENS: `ada:${TOKEN}` } },
      // The consumer, with somebody who notes what it does with each message, and batches that nobody waits for.
      {
        config: {
          ...consumer,
          main: join(import.meta.dirname, "watched-consumer.ts"),
          queues: { consumers: consumer.queues.consumers?.map(quick) },
        },
        secrets,
      },
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
      fetch(path: string, init?: RequestInit) {
        const request = new Request(new URL(path, url), init);
        for (const [name, value] of Object.entries(anotherCaller()))
          request.headers.set(name, value);
        return fetch(request);
      },
    };
  } catch (error) {
    await harness.close();
    throw error;
  }
}

export type Workers = Awaited<ReturnType<typeof startWorkers>>;

/** The batches of a queue that were delivered so far. */
export async function deliveries({ WORLD }: Workers, queue: string): Promise<Delivery[]> {
  const seen = await observationsOf(WORLD, "test");
  return seen.filter(({ kind }) => kind === queue).map(({ detail }) => detail as Delivery);
}

/** How many mails a signup has sent, or alerts a dead letter. */
export const mailsOf = async ({ WORLD }: Workers, run: string): Promise<number> =>
  (await effectsOf(WORLD, run)).length;

/** How many dead letters there are, of those that meet a condition. */
export async function letters({ DB }: Workers, condition = "TRUE"): Promise<number> {
  const sql = `SELECT COUNT(*) AS n FROM dead_letters WHERE ${condition}`;
  return (await DB.prepare(sql).first<number>("n")) ?? 0;
}
