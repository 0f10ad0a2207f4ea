import { join } from "node:path";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [
    cloudflareTest({
      main: "./test/worker.ts",
      miniflare: {
        compatibilityDate: "2026-11-01",
        d1Databases: ["WORLD"],
        bindings: {
          MIGRATIONS: { WORLD: await readD1Migrations(join(import.meta.dirname, "migrations")) },
        },
        email: {
          send_email: [{ name: "EMAIL", allowed_destination_addresses: ["ada@example.com"] }],
        },
      },
      verbose: false,
    }),
  ],
  test: { setupFiles: ["@durable-lessons/test-kit/setup"], testTimeout: 60_000 },
});
