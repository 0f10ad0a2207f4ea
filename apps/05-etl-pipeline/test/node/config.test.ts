import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTestHarness, unstable_readConfig } from "wrangler";
import { lesson, TOKEN } from "./helpers.ts";

const OTHER = "another-token-for-these-tests";

const config = unstable_readConfig({ config: join(lesson, "wrangler.jsonc") });

describe("wrangler.jsonc", () => {
  test("has logs on, and asks for the token, which does not stand there", () => {
    expect(config.secrets?.required).toEqual(["ETL_TOKEN"]);
    expect(config.vars).not.toHaveProperty("ETL_TOKEN");
    expect(config.observability?.enabled).toBe(true);
  });

  test("fires the nightly Workflow, and that one only, once a day", () => {
    const schedules = config.workflows.map(
      ({ class_name, schedules: crons }: { class_name: string; schedules?: unknown }) => [
        class_name,
        crons,
      ],
    );
    expect(schedules).toEqual([
      ["EtlWorkflow", undefined],
      ["NightlyWorkflow", ["0 3 * * *"]],
    ]);
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

describe("as configured for a deploy", () => {
  /** What is answered to whoever calls with each of these tokens, by a Worker with these secrets. */
  const statuses = async (tokens: string[], secrets: Record<string, string>) => {
    const harness = createTestHarness({
      root: lesson,
      // Whatever a `.dev.vars` on this machine says.
      workers: [{ configPath: "wrangler.jsonc", secrets: { ETL_TOKEN: "", ...secrets } }],
    });
    try {
      await harness.listen();
      for (const { binding } of config.d1_databases) {
        await harness.getWorker().applyD1Migrations(binding);
      }
      const seen = [];
      for (const token of tokens) {
        const authorization = { authorization: `Bearer ${token}` };
        const start = await harness.fetch("/runs", {
          method: "POST",
          headers: { "content-type": "application/json", ...authorization },
          body: JSON.stringify({ day: "2026-01-01" }),
        });
        const restart = await harness.fetch("/runs/2026-01-01/restart", {
          method: "POST",
          headers: authorization,
        });
        seen.push({ start: start.status, restart: restart.status });
      }
      return seen;
    } finally {
      await harness.close();
    }
  };

  test("without a secret nobody starts anything", async () => {
    expect(await statuses([TOKEN], {})).toEqual([{ start: 503, restart: 503 }]);
  });

  test("with a secret only that one opens it", async () => {
    const [other, own] = await statuses([TOKEN, OTHER], { ETL_TOKEN: OTHER });
    expect(other).toEqual({ start: 401, restart: 401 });
    expect(own).toMatchObject({ start: 202 });
  });
});
