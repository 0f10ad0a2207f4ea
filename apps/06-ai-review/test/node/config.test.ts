import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTestHarness, unstable_readConfig } from "wrangler";
import { EVENTS } from "../../src/events.ts";
import { lesson, newDraft } from "./helpers.ts";

const TOKEN = "token-of-ada-for-these-tests";

/** Where it is deployed: not on this machine. */
const ADDRESS = "https://review.example";
const config = unstable_readConfig({ config: join(lesson, "wrangler.jsonc") });

describe("wrangler.jsonc", () => {
  test("has logs on, and asks for key and token, which do not stand there", () => {
    expect(config.secrets?.required).toEqual(["REVIEW_LINK_KEY", "DRAFT_TOKEN", "MAIL_FROM"]);
    expect(config.vars).not.toHaveProperty("REVIEW_LINK_KEY");
    expect(config.vars).not.toHaveProperty("DRAFT_TOKEN");
    expect(config.observability?.enabled).toBe(true);
  });

  test("has links that lead to where `pnpm dev` listens", async () => {
    const { scripts } = JSON.parse(await readFile(join(lesson, "package.json"), "utf8"));
    const port = /--port (\d+)/.exec(scripts.dev)?.[1];
    expect(config.vars).toMatchObject({ PUBLIC_ORIGIN: `http://localhost:${port}` });
  });

  test("pnpm run deploy migrates every database before it deploys", async () => {
    const { scripts } = JSON.parse(await readFile(join(lesson, "package.json"), "utf8"));
    const databases: { binding: string }[] = config.d1_databases;
    const migrations = databases.map(
      ({ binding }) => `wrangler d1 migrations apply ${binding} --remote`,
    );
    expect(scripts.deploy.split(" && ")).toEqual([...migrations, "wrangler deploy"]);
  });

  test("binds no model, and does as soon as its last line is no comment", async () => {
    expect(config.ai).toBeUndefined();
    const text = await readFile(join(lesson, "wrangler.jsonc"), "utf8");
    const folder = await mkdtemp(join(tmpdir(), "ai-review-"));
    try {
      const file = join(folder, "wrangler.jsonc");
      await writeFile(file, text.replace('// "ai"', '"ai"'));
      expect(unstable_readConfig({ config: file }).ai).toMatchObject({ binding: "AI" });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

test("event types are of letters, digits, - and _ only, which production demands", () => {
  for (const type of Object.values(EVENTS)) expect(type).toMatch(/^[A-Za-z0-9_-]{1,100}$/);
});

describe("as configured for a deploy", () => {
  /** What is answered to a draft that comes with each of these tokens, and to a review. */
  const statuses = async (values: Record<string, string>, ...tokens: string[]) => {
    const harness = createTestHarness({
      root: lesson,
      // Whatever a `.dev.vars` on this machine says.
      workers: [
        {
          configPath: "wrangler.jsonc",
          secrets: { REVIEW_LINK_KEY: "", DRAFT_TOKEN: "", ...values },
        },
      ],
    });
    try {
      await harness.listen();
      for (const { binding } of config.d1_databases) {
        await harness.getWorker().applyD1Migrations(binding);
      }
      const seen = [];
      for (const token of tokens) {
        const { status } = await harness.fetch(`${ADDRESS}/drafts`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
          body: JSON.stringify(newDraft()),
        });
        seen.push(status);
      }
      const review = await harness.fetch(`${ADDRESS}/review/d-1?expires=1&signature=0`);
      return [...seen, review.status];
    } finally {
      await harness.close();
    }
  };
  const key = {
    DRAFT_TOKEN: TOKEN,
    REVIEW_LINK_KEY: "a-secret-of-thirty-two-characters",
  };

  test("without a key nothing can be asked for or reviewed", async () => {
    expect(await statuses({ DRAFT_TOKEN: TOKEN }, TOKEN)).toEqual([503, 503]);
  });

  test("nor with links to localhost", async () => {
    expect(await statuses(key, TOKEN)).toEqual([503, 503]);
  });

  test("with a key and an address it works", async () => {
    const vars = { ...key, PUBLIC_ORIGIN: ADDRESS };
    expect(await statuses(vars, TOKEN, "another")).toEqual([202, 401, 403]);
  });
});
