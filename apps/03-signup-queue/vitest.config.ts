import { join } from "node:path";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

// The producer's secret comes from below, not from the environment that wrangler looks into and warns about.
process.env["WRANGLER_LOG"] ??= "error";

const here = (path: string) => join(import.meta.dirname, path);
const migrations = {
  DB: await readD1Migrations(here("migrations")),
  WORLD: await readD1Migrations(here("../../packages/outside-world/migrations")),
};

/** The tests of one Worker, inside the runtime. */
const worker = (name: string, bindings: Record<string, string> = {}) => ({
  plugins: [
    cloudflareTest({
      wrangler: { configPath: here(`wrangler.${name}.jsonc`) },
      miniflare: { bindings: { MIGRATIONS: migrations, ...bindings } },
      verbose: false,
    }),
  ],
  test: {
    name,
    include: [`test/${name}/*.test.ts`],
    setupFiles: [`test/${name}/setup.ts`],
    testTimeout: 60_000,
  },
});

/** Tests of the Workers together, from outside. */
const harness = (name: string) => ({
  test: {
    name,
    include: [`test/${name}/*.test.ts`],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

export default defineConfig({
  test: {
    // Every file starts a workerd of its own: two at a time are enough for two cores.
    maxWorkers: 2,
    projects: [
      worker("producer", { ADMIN_TOKENS: "ada:token-of-ada bob:token-of-bob" }),
      worker("consumer"),
      harness("node"),
      // With a browser, which a machine may lack: `pnpm test:browser`.
      harness("browser"),
    ],
  },
});
