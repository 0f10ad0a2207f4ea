import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
// As an app imports them, to check its own copies against them.
import keys from "@durable-lessons/idempotency/migrations/0001_idempotency_keys.sql?raw";
import retention from "@durable-lessons/idempotency/migrations/0002_idempotency_retention.sql?raw";

it("ship with the package, as the text that the tests ran", () => {
  expect(env.TEST_MIGRATIONS).toHaveLength(2);
  const lines = (sql: string) =>
    sql.split("\n").flatMap((line) => (line === "" ? [] : line.trim().replace(/;$/, "")));
  for (const [index, shipped] of [keys, retention].entries()) {
    expect(lines(env.TEST_MIGRATIONS[index]?.queries.join("\n") ?? "")).toEqual(lines(shipped));
  }
});

it("keep for 90 days what was there before keys had a retention", async () => {
  const text = retention.replaceAll("idempotency_keys", "older_keys");
  const old = keys.replaceAll("idempotency_keys", "older_keys");
  const statements = (sql: string) =>
    sql
      .replaceAll(/^ *--.*$/gm, "")
      .split(";")
      .filter((one) => one.trim() !== "");
  await env.DB.batch(statements(old).map((one) => env.DB.prepare(one)));
  await env.DB.prepare(
    "INSERT INTO older_keys (key, state, lease_ms, lease_expires_at, created_at, updated_at) VALUES ('k', 'done', 0, 0, 0, 5)",
  ).run();
  await env.DB.batch(statements(text).map((one) => env.DB.prepare(one)));
  expect(await env.DB.prepare("SELECT tries, delete_at FROM older_keys").first()).toEqual({
    tries: 1,
    delete_at: 5 + 90 * 24 * 60 * 60 * 1000,
  });
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
