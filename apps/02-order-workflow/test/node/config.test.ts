import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTestHarness, unstable_readConfig } from "wrangler";
import { EVENTS } from "../../src/events.ts";
import { approval, lesson, newOrder, TOKEN } from "./helpers.ts";

/** Where it is deployed: not on this machine. */
const ADDRESS = "https://orders.example";
const config = unstable_readConfig({ config: join(lesson, "wrangler.jsonc") });

describe("wrangler.jsonc", () => {
  test("has logs on, and asks for the review token, which does not stand there", async () => {
    expect(config.secrets?.required).toEqual(["REVIEW_TOKEN"]);
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
  const call = async (token: string | undefined, secrets: Record<string, string>) => {
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
      const post = (path: string, body: unknown, headers = {}) =>
        harness.fetch(ADDRESS + path, {
          method: "POST",
          headers: { ...json, ...headers },
          body: JSON.stringify(body),
        });
      await post("/orders", newOrder({ orderId: "o-1" }));
      const authorization = { authorization: `Bearer ${token}` };
      const review = await post("/orders/o-1/review", approval, authorization);
      const outage = await harness.fetch(`${ADDRESS}/orders/o-1/outage`, {
        method: "PUT",
        headers: { ...json, ...authorization },
        body: JSON.stringify({ down: ["mail.send"] }),
      });
      return {
        review: review.status,
        outage: outage.status,
      };
    } finally {
      await harness.close();
    }
  };

  test("without a secret the review is closed", async () => {
    expect(await call(TOKEN, {})).toEqual({ review: 503, outage: 503 });
  });

  test("with a secret only that one opens it, and there are no outages", async () => {
    const secret = { REVIEW_TOKEN: "a-secret" };
    expect(await call(TOKEN, secret)).toEqual({ review: 401, outage: 401 });
    const { review, outage } = await call("a-secret", secret);
    expect([202, 409]).toContain(review);
    expect(outage).toBe(404);
  });
});
