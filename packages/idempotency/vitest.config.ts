import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { soak } from "@durable-lessons/test-kit/soak";
import { defineConfig } from "vitest/config";
import { queueSettings } from "./src/queue-settings.ts";
import { FRAGILE_TIMES } from "./test/fragile.ts";

const fragile = queueSettings({ ...FRAGILE_TIMES, tries: 3 });

export default defineConfig({
  test: {
    maxWorkers: 1,
    projects: [
      {
        plugins: [
          cloudflareTest(async () => ({
            main: "./test/worker.ts",
            verbose: false,
            miniflare: {
              // No nodejs_compat: the package must run in a Worker without it.
              compatibilityDate: "2026-11-01",
              bindings: {
                TEST_MIGRATIONS: await readD1Migrations("./migrations"),
                // How many, and from which seed. Always the same, so that a red run is red again. Another: PROPERTY_SEED=1 pnpm test
                SCHEDULES: soak(1000, 150),
                PROPERTY_SEED: Number(process.env["PROPERTY_SEED"] ?? 20_261_129),
              },
              d1Databases: { DB: "db" },
              workflows: { GREET: { name: "greet", className: "GreetWorkflow" } },
              queueProducers: { MAIL: "mail", FRAGILE: "fragile" },
              // No delays, so that a retry is there at once.
              queueConsumers: {
                mail: { maxBatchSize: 100, maxBatchTimeout: 0, maxRetries: 100, retryDelay: 0 },
                fragile: {
                  maxBatchSize: 1,
                  maxBatchTimeout: 0,
                  maxRetries: fragile.max_retries,
                  retryDelay: fragile.retry_delay,
                  deadLetterQueue: "fragile-dead",
                },
                "fragile-dead": { maxBatchSize: 1, maxBatchTimeout: 0 },
              },
            },
          })),
        ],
        test: {
          name: "worker",
          include: ["test/*.test.ts"],
          setupFiles: ["./test/setup.ts"],
          // Every key is used by one test alone: one runtime serves all files.
          isolate: false,
          // Nothing here waits for a time. A busy machine may be slow; this only ends what hangs.
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        // What installs and starts other programs takes its time.
        test: {
          name: "node",
          include: ["test/node/*.test.ts"],
          testTimeout: 600_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
