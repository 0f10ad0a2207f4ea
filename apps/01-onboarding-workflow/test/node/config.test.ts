import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTestHarness, unstable_readConfig } from "wrangler";
import { QUEUES } from "../../src/queues.ts";

const lesson = join(import.meta.dirname, "..", "..");
const config = unstable_readConfig({ config: join(lesson, "wrangler.jsonc") });

interface Queues {
  producers?: { queue: string }[];
  consumers?: { queue: string; dead_letter_queue?: string }[];
}

describe("wrangler.jsonc", () => {
  test("spells the queues as src/queues.ts does", () => {
    const { producers = [], consumers = [] }: Queues = config.queues;
    expect(producers.map(({ queue }) => queue)).toEqual([QUEUES.onboardingRequests]);
    expect(consumers.map(({ queue }) => queue)).toEqual([
      QUEUES.onboardingRequests,
      QUEUES.onboardingRequestsDeadLetters,
    ]);
    expect(consumers[0]?.dead_letter_queue).toBe(QUEUES.onboardingRequestsDeadLetters);
  });

  test("has logs on", () => {
    expect(config.observability?.enabled).toBe(true);
  });

  test("pnpm run deploy migrates every database before it deploys", async () => {
    const { scripts } = JSON.parse(await readFile(join(lesson, "package.json"), "utf8"));
    const databases: { binding: string }[] = config.d1_databases;
    const migrations = databases.map(
      ({ binding }) => `wrangler d1 migrations apply ${binding} --remote`,
    );
    expect(scripts.deploy.split(" && ")).toEqual([...migrations, "wrangler deploy"]);
  });
});

test("A16: a wrong class_name fails before anything runs", async () => {
  const harness = createTestHarness({
    root: lesson,
    workers: [
      {
        config: {
          name: "wrong-class",
          main: "src/index.ts",
          compatibility_date: "2026-11-01",
          workflows: [
            { name: "onboarding", binding: "ONBOARDING", class_name: "OnbordingWorkflow" },
          ],
        },
      },
    ],
  });
  try {
    await expect(harness.listen()).rejects.toThrow("OnbordingWorkflow");
  } finally {
    await harness.close();
  }
});
