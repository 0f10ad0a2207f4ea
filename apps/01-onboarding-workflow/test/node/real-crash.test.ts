import { join } from "node:path";
import { instanceIdFor } from "@durable-lessons/idempotency";
import { LessonRuntime } from "@durable-lessons/lab/runner";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

const lesson = join(import.meta.dirname, "..", "..");
let runtime: LessonRuntime;

beforeAll(async () => {
  runtime = await LessonRuntime.start(lesson);
});
afterAll(() => runtime.close());

interface Bindings {
  DB: D1Database;
  WORLD: D1Database;
  ONBOARDING: Workflow;
}
const bindings = async () => (await runtime.env()) as unknown as Bindings;

async function onboard(userId: string) {
  const response = await runtime.fetch("/onboard", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ userId, email: "ada@example.com", planType: "pro" }),
  });
  return response.status;
}

const count = async (db: D1Database, sql: string, value: string) =>
  (await db.prepare(sql).bind(value).first<{ n: number }>())?.n;

async function evidence(id: string, userId: string) {
  const { DB, WORLD } = await bindings();
  return {
    users: await count(DB, "SELECT COUNT(*) AS n FROM users WHERE user_id = ?1", userId),
    mails: await count(
      WORLD,
      "SELECT COUNT(*) AS n FROM effects WHERE kind = 'email.sent' AND run = ?1",
      id,
    ),
  };
}

describe("SIGKILL while the mail is on its way", () => {
  test.each(["hang", "hang-after-effect"])(
    "A17: one account and one mail, with a provider that says %s",
    async (fault) => {
      const userId = `u_${crypto.randomUUID().slice(0, 8)}`;
      const id = await instanceIdFor("onboard", userId);
      const { WORLD } = await bindings();
      await WORLD.prepare("INSERT INTO runs (run, script, started_at) VALUES (?1, ?2, 0)")
        .bind(id, JSON.stringify({ "mail.send": [fault] }))
        .run();
      expect(await onboard(userId)).toBe(202);
      const hangs = "SELECT COUNT(*) AS n FROM calls WHERE run = ?1 AND hangs = 1";
      await vi.waitUntil(async () => (await count(WORLD, hangs, id)) === 1, { timeout: 20_000 });

      const { pidBefore, pidAfter, signal } = await runtime.crash();
      expect(signal).toBe("SIGKILL");
      expect(pidAfter).not.toBe(pidBefore);

      const instance = await (await bindings()).ONBOARDING.get(id);
      await instance.sendEvent({ type: "wake", payload: null });
      await vi.waitUntil(async () => (await instance.status()).status === "complete", {
        timeout: 20_000,
      });
      expect(await evidence(id, userId)).toEqual({ users: 1, mails: 1 });
      expect(await onboard(userId)).toBe(200);
      const calls = "SELECT COUNT(*) AS n FROM calls WHERE run = ?1";
      expect(await count((await bindings()).WORLD, calls, id)).toBe(2);
    },
  );
});
