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
              // The local Workflows engine keeps the names and messages of errors only with the first two. The list takes the
              // place of the one in wrangler.jsonc.
              compatibilityFlags: [
                "enhanced_error_serialization",
                "workflows_preserve_non_retryable_error_message",
                "nodejs_compat",
              ],
              bindings: { LAB: "on", RETRY_DELAY: 10, MIGRATIONS: migrations },
            },
            verbose: false,
          }),
        ],
        test: {
          name: "worker",
          include: ["test/worker/*.test.ts"],
          setupFiles: ["test/worker/setup.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
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
