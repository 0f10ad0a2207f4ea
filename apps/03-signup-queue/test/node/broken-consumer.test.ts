import { join } from "node:path";
import { observationsOf } from "@durable-lessons/outside-world";
import { PATIENTLY } from "@durable-lessons/test-kit";
import { expect, test, vi } from "vitest";
import { createTestHarness, unstable_readConfig } from "wrangler";
import { QUEUES } from "../../src/queues.ts";
import { lesson } from "./workers.ts";

test("dead letters outlive a broken consumer: they wait in a queue that nothing consumes", async () => {
  const config = unstable_readConfig({ config: join(lesson, "wrangler.consumer.jsonc") });
  const deadLetters = config.queues.consumers?.find(
    ({ queue }: { queue: string }) => queue === QUEUES.signupsDeadLetters,
  );
  expect(deadLetters?.dead_letter_queue).toBe(QUEUES.signupsUnread);
  // In production nothing consumes it. Here somebody looks into it.
  const unread = { queue: QUEUES.signupsUnread, max_batch_timeout: 0 };
  const harness = createTestHarness({
    root: lesson,
    workers: [
      {
        config: {
          ...config,
          main: join(import.meta.dirname, "broken-consumer.ts"),
          queues: {
            producers: [{ binding: "DEAD_LETTERS", queue: QUEUES.signupsDeadLetters }],
            consumers: [{ ...deadLetters, max_batch_timeout: 0, retry_delay: 0 }, unread],
          },
        },
      },
    ],
  });
  try {
    await harness.listen();
    const worker = harness.getWorker();
    await worker.applyD1Migrations("WORLD");
    const env = (await worker.getEnv()) as unknown as { DEAD_LETTERS: Queue; WORLD: D1Database };
    const letter = { id: "welcome-1", email: "ada@example.com" };
    await env.DEAD_LETTERS.send(letter);
    const seen = await vi.waitUntil(async () => {
      const all = await observationsOf(env.WORLD, "test");
      return all.length > 0 && all;
    }, PATIENTLY);
    expect(seen.map(({ detail }) => detail)).toEqual([letter]);
  } finally {
    await harness.close();
  }
});
