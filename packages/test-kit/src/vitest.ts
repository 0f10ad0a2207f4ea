/** The one configuration of vitest for all lessons. */
import { join } from "node:path";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { unstable_readConfig } from "wrangler";
import { keepTemporaryFilesInMemory } from "./temporary.ts";

type Miniflare = NonNullable<
  Exclude<Parameters<typeof cloudflareTest>[0], (...context: never[]) => unknown>["miniflare"]
>;

/** How the tests of a Worker differ from the Worker as it is configured. */
export interface WorkerTests {
  /** Its configuration, `wrangler.jsonc` unless named. */
  config?: string;
  /** In the place of its `vars` and secrets: short times, tokens that the tests know. */
  bindings?: NonNullable<Miniflare["bindings"]>;
  /** In the place of its consumers' settings, where a test would wait for them. */
  queueConsumers?: NonNullable<Miniflare["queueConsumers"]>;
  /** Does each file need a runtime and storage of its own? Not where every test has ids that no other has: a start takes time. */
  isIsolated?: boolean;
}

/** Nothing waits for these times. A busy machine may be slow; they only end what hangs. */
const TIMEOUTS = { testTimeout: 60_000, hookTimeout: 60_000 };

/**
 * The tests of a lesson: inside each of its Workers those of the folder of the same name in `test`, with every D1 migration
 * applied; from outside, on Node, those in `test/node`; and in `test/browser` those that need a browser, which a machine may
 * lack.
 *
 * @param lesson absolute path of the lesson
 * @param workers its Workers, by the name of their tests' folder
 */
export const lessonTests = async (lesson: string, workers: Record<string, WorkerTests>) => {
  // Reports of every batch would drown the tests' own words, and what wrangler warns of is what the tests set.
  process.env["WRANGLER_LOG"] ??= "error";
  keepTemporaryFilesInMemory();
  return defineConfig({
    test: {
      // Every worker starts a runtime of its own, and turbo runs two lessons at a time: enough for two cores.
      maxWorkers: 1,
      projects: [
        ...(await Promise.all(
          Object.entries(workers).map(([name, tests]) => insideWorker(lesson, name, tests)),
        )),
        outside("node"),
        outside("browser"),
      ],
    },
  });
};

const outside = (name: string) => ({
  // Loading wrangler takes seconds of a processor: once for all files of a worker.
  test: { name, include: [`test/${name}/*.test.ts`], isolate: false, ...TIMEOUTS },
});

async function insideWorker(lesson: string, name: string, tests: WorkerTests) {
  const { config = "wrangler.jsonc", bindings, queueConsumers, isIsolated = false } = tests;
  const configPath = join(lesson, config);
  const { d1_databases } = unstable_readConfig({ config: configPath });
  const databases: { binding: string; migrations_dir?: string }[] = d1_databases;
  const migrations = await Promise.all(
    databases.map(async ({ binding, migrations_dir: dir = "migrations" }) => [
      binding,
      await readD1Migrations(join(lesson, dir)),
    ]),
  );
  return {
    plugins: [
      cloudflareTest({
        // What is deployed, with its compatibility date and flags: a flag more would show what production does not.
        wrangler: { configPath },
        miniflare: {
          bindings: { ...bindings, MIGRATIONS: Object.fromEntries(migrations) },
          ...(queueConsumers ? { queueConsumers } : {}),
        },
        verbose: false,
      }),
    ],
    test: {
      name,
      include: [`test/${name}/*.test.ts`],
      isolate: isIsolated,
      setupFiles: [join(import.meta.dirname, "setup.ts")],
      ...TIMEOUTS,
    },
  };
}
