import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
// As an app imports it, to check its own copy against it.
import sql from "@durable-lessons/idempotency/migrations/0001_idempotency_keys.sql?raw";

it("ships with the package, as the text that the tests ran", () => {
  const ran = env.TEST_MIGRATIONS.flatMap(({ queries }) => queries);
  expect(ran).toHaveLength(1);
  expect(sql.trim()).toBe(ran.join("\n").trim());
});

it("makes a table that accepts no third state", async () => {
  const insert = (state: string) =>
    env.DB.prepare(
      "INSERT INTO idempotency_keys (key, state, lease_ms, lease_expires_at, created_at, updated_at) VALUES (?, ?, 0, 0, 0, 0)",
    )
      .bind(crypto.randomUUID(), state)
      .run();
  await insert("processing");
  await insert("done");
  await expect(insert("failed")).rejects.toThrow("CHECK constraint failed: idempotency_lease_held");
});
