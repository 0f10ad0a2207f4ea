import { join } from "node:path";
import { instanceIdFor } from "@durable-lessons/idempotency";
import { LessonRuntime } from "@durable-lessons/lab/runner";
import { callsOf, evidenceOf, hangingCalls, scriptFaults } from "@durable-lessons/outside-world";
import { anotherCaller } from "@durable-lessons/test-kit/caller";
import { PATIENTLY, untilOver } from "@durable-lessons/test-kit";
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
    headers: { ...anotherCaller(), "content-type": "application/json" },
    body: JSON.stringify({ userId, email: `${userId}@example.com`, planType: "pro" }),
  });
  return response.status;
}

async function usersSaved(userId: string) {
  const { DB } = await bindings();
  const { results } = await DB.prepare("SELECT 1 FROM users WHERE user_id = ?1").bind(userId).all();
  return results.length;
}

describe("SIGKILL while the mail is on its way", () => {
  test.each(["hang", "hang-after-effect"] as const)(
    "A17: one account and one mail, with a provider that says %s",
    async (fault) => {
      const userId = `u_${crypto.randomUUID().slice(0, 8)}`;
      const id = await instanceIdFor("onboard", userId);
      const { WORLD } = await bindings();
      await scriptFaults(WORLD, id, { "mail.send": [fault] });
      expect(await onboard(userId)).toBe(202);
      await vi.waitUntil(async () => (await hangingCalls(WORLD, id)).length === 1, PATIENTLY);

      const { pidBefore, pidAfter, signal } = await runtime.crash();
      expect(signal).toBe("SIGKILL");
      expect(pidAfter).not.toBe(pidBefore);

      const instance = await (await bindings()).ONBOARDING.get(id);
      await instance.sendEvent({ type: "wake", payload: null });
      expect(await untilOver(instance)).toMatchObject({ status: "complete" });
      expect(await usersSaved(userId)).toBe(1);
      const world = (await bindings()).WORLD;
      expect(await evidenceOf(world, id)).toEqual({ "email.sent": 1 });
      expect(await onboard(userId)).toBe(200);
      expect(await callsOf(world, id)).toHaveLength(2);
    },
  );
});
