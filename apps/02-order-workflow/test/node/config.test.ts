import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTestHarness, unstable_readConfig } from "wrangler";
import { EVENTS } from "../../src/events.ts";
import { approval, lesson, newOrder, TOKEN } from "./helpers.ts";

const OTHER = "another-token-for-these-tests";

/** Where it is deployed: not on this machine. */
const ADDRESS = "https://orders.example";
const config = unstable_readConfig({ config: join(lesson, "wrangler.jsonc") });

describe("wrangler.jsonc", () => {
  test("has logs on, and asks for the review token, which does not stand there", async () => {
    expect(config.secrets?.required).toEqual(["REVIEW_TOKEN", "MAIL_FROM"]);
    expect(config.vars).not.toHaveProperty("REVIEW_TOKEN");
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

test("event types are of letters, digits, - and _ only, which production demands", () => {
  for (const type of Object.values(EVENTS)) expect(type).toMatch(/^[A-Za-z0-9_-]{1,100}$/);
});

describe("as configured for a deploy", () => {
  /** What is answered to whoever calls with each of these tokens, by a Worker with these secrets. */
  const statuses = async (tokens: string[], secrets: Record<string, string>) => {
    const harness = createTestHarness({
      root: lesson,
      // Whatever a `.dev.vars` on this machine says.
      workers: [{ configPath: "wrangler.jsonc", secrets: { REVIEW_TOKEN: "", ...secrets } }],
    });
    try {
      await harness.listen();
      for (const { binding } of config.d1_databases) {
        await harness.getWorker().applyD1Migrations(binding);
      }
      const json = { "content-type": "application/json" };
      const send = (method: string, path: string, body: unknown, headers = {}) =>
        harness.fetch(ADDRESS + path, {
          method,
          headers: { ...json, ...headers },
          body: JSON.stringify(body),
        });
      await send("POST", "/orders", newOrder({ orderId: "o-1" }));
      const seen = [];
      for (const token of tokens) {
        const authorization = { authorization: `Bearer ${token}` };
        const review = await send("POST", "/orders/o-1/review", approval, authorization);
        const down = { down: ["mail.send"] };
        const outage = await send("PUT", "/orders/o-1/outage", down, authorization);
        seen.push({ review: review.status, outage: outage.status });
      }
      return seen;
    } finally {
      await harness.close();
    }
  };

  test("without a secret the review is closed", async () => {
    expect(await statuses([TOKEN], {})).toEqual([{ review: 503, outage: 503 }]);
  });

  test("with a secret only that one opens it, and there are no outages", async () => {
    const [other, own] = await statuses([TOKEN, OTHER], { REVIEW_TOKEN: OTHER });
    expect(other).toEqual({ review: 401, outage: 401 });
    expect([202, 409]).toContain(own?.review);
    expect(own?.outage).toBe(404);
  });
});
