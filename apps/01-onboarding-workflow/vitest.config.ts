import { join } from "node:path";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

const here = (path: string) => join(import.meta.dirname, path);
const migrations = {
  DB: await readD1Migrations(here("migrations")),
  WORLD: await readD1Migrations(here("../../packages/outside-world/migrations")),
};

export default defineConfig({
  test: {
    // Every file starts a workerd of its own: two at a time are enough for two cores.
    maxWorkers: 2,
    projects: [
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: here("wrangler.jsonc") },
            miniflare: {
              bindings: { LAB: "on", MIGRATIONS: migrations },
              queueConsumers: {
                "onboarding-requests": {
                  maxBatchTimeout: 0,
                  maxRetries: 3,
                  retryDelay: 0,
                  deadLetterQueue: "onboarding-requests-dlq",
                },
                "onboarding-requests-dlq": { maxBatchTimeout: 0 },
              },
            },
            verbose: false,
          }),
        ],
        test: {
          name: "worker",
          include: ["test/worker/*.test.ts"],
          setupFiles: ["test/worker/setup.ts"],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: "node",
          include: ["test/node/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
