import {
  createExecutionContext,
  createMessageBatch,
  createScheduledController,
  getQueueResult,
} from "cloudflare:test";
import { outsideWorld, scriptFaults } from "@durable-lessons/outside-world";
import { PATIENTLY, untilOver } from "@durable-lessons/test-kit";
import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import worker from "../../src/index.ts";
import { evidence, idOf, newUser, send, usersSaved } from "./helpers.ts";
import { QUEUES } from "../../src/queues.ts";

const parkedReason = async (messageId: string) =>
  (
    await env.DB.prepare("SELECT reason FROM parked_messages WHERE message_id = ?1")
      .bind(messageId)
      .first<{ reason: string }>()
  )?.reason;

/** Hands a batch to the Worker's queue handler and tells what became of each message. */
async function deliver(
  bodies: unknown[],
  queue: string = QUEUES.onboardingRequests,
  workerEnv = env,
) {
  const messages = bodies.map((body) => ({
    id: crypto.randomUUID(),
    timestamp: new Date(),
    attempts: 1,
    body,
  }));
  const batch = createMessageBatch(queue, messages);
  const ctx = createExecutionContext();
  await worker.queue(batch, workerEnv);
  const result = await getQueueResult(batch, ctx);
  return {
    ids: messages.map(({ id }) => id),
    acked: result.explicitAcks,
    retried: result.retryMessages,
  };
}

describe("A15: a message starts a run", () => {
  test("B35: through the real queue", async () => {
    const user = newUser();
    await env.ONBOARDING_REQUESTS.send(user);
    const id = await idOf(user);
    await vi.waitUntil(() => env.ONBOARDING.get(id).catch(() => null), PATIENTLY);
    await untilOver(await env.ONBOARDING.get(id));
    expect(await evidence(id)).toEqual({ "email.sent": 1 });
  });

  test("redelivery starts nothing, fails nothing and is acked", async () => {
    const user = newUser();
    const first = await deliver([user]);
    const second = await deliver([user, user]);
    expect(first.acked).toEqual(first.ids);
    expect(second.acked).toEqual(second.ids);
    const id = await idOf(user);
    await untilOver(await env.ONBOARDING.get(id));
    expect(await evidence(id)).toEqual({ "email.sent": 1 });
    expect(await usersSaved(user)).toBe(1);
  });

  test("a malformed message is parked with its reason, and its neighbours are served", async () => {
    const [one, two] = [newUser(), newUser()];
    const { ids, acked, retried } = await deliver([one, { userId: "x" }, null, "text", [], two]);
    expect(acked).toEqual(ids);
    expect(retried).toEqual([]);
    expect(await parkedReason(ids[1] ?? "")).toContain("email is missing");
    for (const nth of [2, 3, 4]) expect(await parkedReason(ids[nth] ?? "")).toBeTruthy();
    for (const user of [one, two]) {
      const over = await untilOver(await env.ONBOARDING.get(await idOf(user)));
      expect(over.status).toBe("complete");
    }
  });

  test("another user under an id that is taken is parked with the reason, and its neighbours are served", async () => {
    const [user, neighbour] = [newUser(), newUser()];
    await deliver([user]);
    const { ids, acked } = await deliver([{ ...user, planType: "free" }, user, neighbour]);
    expect(acked).toEqual(ids);
    expect(await parkedReason(ids[0] ?? "")).toContain("There is another user");
    expect(await parkedReason(ids[1] ?? "")).toBeUndefined();
    for (const one of [user, neighbour]) {
      await untilOver(await env.ONBOARDING.get(await idOf(one)));
      expect(await evidence(await idOf(one))).toEqual({ "email.sent": 1 });
    }
  });

  test("a message for an onboarding that has failed is parked: nobody would hear it", async () => {
    const user = newUser();
    await scriptFaults(env.WORLD, await idOf(user), { "mail.send": ["hang"] });
    await deliver([user]);
    await (await env.ONBOARDING.get(await idOf(user))).terminate();
    const { ids, acked } = await deliver([user]);
    expect(acked).toEqual(ids);
    expect(await parkedReason(ids[0] ?? "")).toContain("has failed");
  });

  test("a message that cannot be served now is retried, and its neighbours are not", async () => {
    const broken = { ...env, DB: undefined } as unknown as typeof env;
    const user = newUser();
    // Parking needs the table; starting a run does not.
    const { ids, acked, retried } = await deliver([{}, user], QUEUES.onboardingRequests, broken);
    expect(acked).toEqual([ids[1]]);
    expect(retried).toEqual([{ msgId: ids[0] }]);
    await untilOver(await env.ONBOARDING.get(await idOf(user)));
  });

  test("a dead letter is parked", async () => {
    const { ids, acked } = await deliver([newUser()], QUEUES.onboardingRequestsDeadLetters);
    expect(acked).toEqual(ids);
    expect(await parkedReason(ids[0] ?? "")).toContain("used up");
  });

  test("POST /onboard/queue puts what it gets into the queue", async () => {
    const user = newUser();
    expect((await send("POST", "/onboard/queue", user)).status).toBe(202);
    const id = await idOf(user);
    await vi.waitUntil(() => env.ONBOARDING.get(id).catch(() => null), PATIENTLY);
    await untilOver(await env.ONBOARDING.get(id));
    expect((await send("POST", "/onboard/queue", "{")).status).toBe(400);
    expect((await send("GET", "/onboard/queue")).status).toBe(405);
  });

  test.each([4500, 6000])(
    "POST /onboard/queue refuses %i nested arrays, and the users before and after are onboarded",
    async (depth) => {
      const users = [newUser(), newUser()];
      const nested = "[".repeat(depth) + "]".repeat(depth);
      const answers = [];
      for (const body of [users[0], nested, users[1]]) {
        answers.push((await send("POST", "/onboard/queue", body)).status);
      }
      expect(answers).toEqual([202, 400, 202]);
      for (const user of users) {
        const id = await idOf(user);
        await vi.waitUntil(() => env.ONBOARDING.get(id).catch(() => null), PATIENTLY);
        expect((await untilOver(await env.ONBOARDING.get(id))).status).toBe("complete");
      }
    },
  );
});

describe("A15: a cron starts a run", () => {
  const fire = async (scheduledTime: number) => {
    const controller = createScheduledController({ scheduledTime: new Date(scheduledTime) });
    await worker.scheduled(controller, env);
  };

  test("firing twice for the same time makes one run", async () => {
    const scheduledTime = Date.UTC(2026, 10, 2, 8);
    await fire(scheduledTime);
    await fire(scheduledTime);
    const id = `daily-${scheduledTime}`;
    const over = await untilOver(await env.DAILY_REPORT.get(id));
    await fire(scheduledTime);
    expect(over.status).toBe("complete");
    expect(await evidence(id)).toEqual({ "email.sent": 1 });
    expect((await send("GET", `/status/${id}`)).body["status"]).toBe("complete");
  });

  test("it forgets what was parked, and what the outside world knew, 90 days ago, and no more", async () => {
    const now = Date.UTC(2002, 0, 2, 8);
    const day = 24 * 60 * 60 * 1000;
    const runs = [91, 89].map((days) => ({ run: crypto.randomUUID(), at: now - days * day }));
    for (const { run, at } of runs) {
      await env.DB.prepare(
        "INSERT INTO parked_messages (message_id, queue, body, reason, parked_at) VALUES (?1, 'q', '{}', 'r', ?2)",
      )
        .bind(run, at)
        .run();
      await outsideWorld(env, run).accounts.open({ userId: "ada" });
      await env.WORLD.prepare("UPDATE effects SET at = ?2 WHERE run = ?1").bind(run, at).run();
    }
    await fire(now);
    const [old = "", young = ""] = runs.map(({ run }) => run);
    const { results } = await env.DB.prepare(
      "SELECT message_id FROM parked_messages WHERE message_id IN (?1, ?2)",
    )
      .bind(old, young)
      .all();
    expect(results).toEqual([{ message_id: young }]);
    expect([await evidence(old), await evidence(young)]).toEqual([{}, { "account.opened": 1 }]);
    await untilOver(await env.DAILY_REPORT.get(`daily-${now}`));
  });

  test("the report counts the users of the day before, and no others", async () => {
    const scheduledTime = Date.UTC(2001, 0, 2, 8);
    const hour = 60 * 60 * 1000;
    const insert = env.DB.prepare(
      "INSERT INTO users (user_id, email, plan_type, created_at) VALUES (?1, 'a@example.com', 'free', ?2)",
    );
    await env.DB.batch(
      [-25, -24, -1, 0].map((hours) =>
        insert.bind(crypto.randomUUID(), scheduledTime + hours * hour),
      ),
    );
    await fire(scheduledTime);
    const over = await untilOver(await env.DAILY_REPORT.get(`daily-${scheduledTime}`));
    expect(over.output).toEqual({ newUsers: 2 });
  });
});
