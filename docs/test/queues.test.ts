import { glob } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";

const apps = join(import.meta.dirname, "..", "..", "apps");
const files = await Array.fromAsync(glob("*/src/queues.ts", { cwd: apps }));
const names = await Promise.all(
  files.map(async (file): Promise<string[]> => {
    const { QUEUES } = await import(join(apps, file));
    return Object.values(QUEUES);
  }),
);

test("queue names are valid, and differ: all lessons fit into one account", () => {
  const all = names.flat();
  expect(all).not.toEqual([]);
  for (const name of all) expect(name).toMatch(/^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$/);
  expect(new Set(all).size).toBe(all.length);
});

interface Consumer {
  queue: string;
  max_retries: number;
  retry_delay: number;
  dead_letter_queue?: string;
}
// The docs need no wrangler of their own: the lab's is the one that a lesson has.
const { unstable_readConfig: readConfig } = createRequire(
  import.meta.resolve("@durable-lessons/lab/runner"),
)("wrangler") as {
  unstable_readConfig(args: { config: string }): { queues: { consumers?: Consumer[] } };
};
const configs = await Array.fromAsync(glob("*/wrangler*.jsonc", { cwd: apps }));
const consumers = configs.flatMap(
  (file) => readConfig({ config: join(apps, file) }).queues.consumers ?? [],
);

/** How long a message lives in a queue for which nobody has said anything else ("Limits" of Queues). */
const DAYS = 4;

test.for(consumers)(
  "what the consumer of $queue breaks on is not lost: another queue takes it, or it is retried until it expires",
  ({ dead_letter_queue: next, max_retries, retry_delay }) => {
    const isTaken = next !== undefined && names.flat().includes(next);
    const outlasts = max_retries * retry_delay > DAYS * 24 * 60 * 60;
    expect(isTaken || outlasts).toBe(true);
  },
);
