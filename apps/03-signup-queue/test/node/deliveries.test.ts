/** What a queue does with marks, throws and used-up retries: the platform's own answers, without the lesson's code. */
import { join } from "node:path";
import { observationsOf } from "@durable-lessons/outside-world";
import { PATIENTLY } from "@durable-lessons/test-kit";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createTestHarness, unstable_readConfig } from "wrangler";
import type { Scripted } from "./scripted-consumer.ts";
import { lesson } from "./workers.ts";

const RETRIES = 3;
const times = (queue: string, max_retries: number, more = {}) => ({
  queue,
  max_batch_size: 2,
  max_batch_timeout: 1,
  max_retries,
  retry_delay: 0,
  ...more,
});

let queues: { WITH_DLQ: Queue<Scripted>; WITHOUT_DLQ: Queue<Scripted> };
let WORLD: D1Database;
let close: () => Promise<void>;

beforeAll(async () => {
  process.env["CLOUDFLARE_CF_FETCH_ENABLED"] ??= "false";
  process.env["WRANGLER_LOG"] ??= "error";
  const consumer = unstable_readConfig({ config: join(lesson, "wrangler.consumer.jsonc") });
  const harness = createTestHarness({
    root: lesson,
    workers: [
      {
        config: {
          ...consumer,
          main: join(import.meta.dirname, "scripted-consumer.ts"),
          queues: {
            producers: [
              { binding: "WITH_DLQ", queue: "with-dlq" },
              { binding: "WITHOUT_DLQ", queue: "without-dlq" },
            ],
            consumers: [
              times("with-dlq", RETRIES, { dead_letter_queue: "dead" }),
              times("without-dlq", 1),
              times("dead", 0),
            ],
          },
        },
      },
    ],
  });
  close = () => harness.close();
  await harness.listen();
  const worker = harness.getWorker("signup-consumer");
  await worker.applyD1Migrations("WORLD");
  const bindings = await worker.getEnv();
  queues = bindings as typeof queues;
  ({ WORLD } = bindings as { WORLD: D1Database });
});
afterAll(() => close());

/** The attempts, as they are counted, at which a message was delivered. */
async function attempts(queue: string, name: string): Promise<number[]> {
  const seen = await observationsOf(WORLD, "test");
  return seen
    .filter(({ kind }) => kind === queue)
    .map(({ detail }) => detail as { name: string; attempts: number })
    .filter((delivered) => delivered.name === name)
    .map((delivered) => delivered.attempts);
}

/** Sends two messages, which are a batch, and waits until the second one, which fails, is dead. */
async function sendPair(first: Scripted, second: Scripted) {
  await queues.WITH_DLQ.sendBatch([{ body: first }, { body: second }]);
  await vi.waitUntil(async () => (await attempts("dead", second.name)).length === 1, PATIENTLY);
}

const ALL = Array.from({ length: RETRIES + 1 }, (_, nth) => nth + 1);

describe("C3: an ack", () => {
  test("removes the message, whatever is asked for it afterwards: of two marks the first one counts", async () => {
    await sendPair({ name: "acked", marks: ["ack", "retry"] }, { name: "fails", marks: ["retry"] });
    expect(await attempts("with-dlq", "acked")).toEqual([1]);
    expect(await attempts("dead", "acked")).toEqual([]);
  });

  test.each(["throw", "retryAll"] as const)(
    "is worth nothing on the local engine where its batch ends with a %s: the message comes again",
    async (batch) => {
      await sendPair({ name: `acked, ${batch}`, marks: ["ack"] }, { name: batch, batch });
      expect(await attempts("with-dlq", `acked, ${batch}`)).toEqual(ALL);
    },
  );
});

describe("C4: a message", () => {
  test("C15: that fails is delivered once more than it has retries, and is dead then", async () => {
    await sendPair({ name: "served" }, { name: "refused", marks: ["retry"] });
    expect(await attempts("with-dlq", "refused")).toEqual([1, 2, 3, 4]);
    // retry() is about one message; a normal return acks the other.
    expect(await attempts("with-dlq", "served")).toEqual([1]);
  });

  test("C6: that nobody has marked is acked by a normal return, and fails by a throw", async () => {
    await sendPair({ name: "unmarked" }, { name: "throws again", batch: "throw" });
    expect(await attempts("with-dlq", "unmarked")).toEqual(ALL);
    expect(await attempts("dead", "unmarked")).toEqual([1]);
  });

  test("that has failed too often is dropped where there is no dead letter queue", async () => {
    await queues.WITHOUT_DLQ.send({ name: "dropped", marks: ["retry"] });
    await vi.waitUntil(
      async () => (await attempts("without-dlq", "dropped")).length === 2,
      PATIENTLY,
    );
    await queues.WITHOUT_DLQ.send({ name: "later" });
    await vi.waitUntil(
      async () => (await attempts("without-dlq", "later")).length === 1,
      PATIENTLY,
    );
    expect(await attempts("without-dlq", "dropped")).toEqual([1, 2]);
    expect(await attempts("dead", "dropped")).toEqual([]);
  });
});
