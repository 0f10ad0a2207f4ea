import { createScheduledController } from "cloudflare:test";
import { evidenceByRun, outsideWorld } from "@durable-lessons/outside-world";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import consumer from "../../src/consumer.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

test("every night forgets keys, failures and effects older than 90 days, and no others", async () => {
  const now = Date.now();
  const key = env.DB.prepare(
    `INSERT INTO idempotency_keys (key, state, lease_ms, lease_expires_at, created_at, updated_at, delete_at)
     VALUES (?1, 'done', 1, 0, ?2, ?2, ?2 + 90 * 86400000)`,
  );
  const failure = env.DB.prepare(
    "INSERT INTO delivery_failures (signup_id, attempts, reason, failed_at) VALUES (?1, 1, 'test', ?2)",
  );
  const old = now - 91 * DAY_MS;
  const young = now - 89 * DAY_MS;
  await env.DB.batch([
    ...Array.from({ length: 1001 }, (_, nth) => key.bind(`old-${nth}`, old)),
    key.bind("young", young),
    failure.bind("old", old),
    failure.bind("young", young),
  ]);
  for (const [run, at] of [
    ["old", old],
    ["young", young],
  ] as const) {
    await outsideWorld(env, run).mail.send({ to: "ada@example.com", subject: "s", text: "t" });
    await env.WORLD.prepare("UPDATE effects SET at = ?2 WHERE run = ?1").bind(run, at).run();
  }
  await consumer.scheduled(
    createScheduledController({ scheduledTime: new Date(now), cron: "0 3 * * *" }),
    env,
  );
  const keys = await env.DB.prepare("SELECT key FROM idempotency_keys").raw();
  const failures = await env.DB.prepare("SELECT signup_id FROM delivery_failures").raw();
  expect([...(await evidenceByRun(env.WORLD)).keys()]).toEqual(["young"]);
  expect([keys, failures]).toEqual([[["young"]], [["young"]]]);
});
