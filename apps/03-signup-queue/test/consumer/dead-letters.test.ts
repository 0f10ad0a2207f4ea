import { createMessageBatch, createScheduledController } from "cloudflare:test";
import { evidenceOf, scriptFaults } from "@durable-lessons/outside-world";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { ALERTS, alertOperators } from "../../src/alert-operators.ts";
import consumer from "../../src/consumer.ts";
import { consumeDeadLetters } from "../../src/consume-dead-letters.ts";
import { QUEUES } from "../../src/queues.ts";
import { deliver, evidence, letterOf, newSignup, withoutDatabase } from "./helpers.ts";

const queue = QUEUES.signupsDeadLetters;

// Nobody has been told anything yet, and nothing waits.
beforeEach(async () => {
  await env.DB.exec("DELETE FROM alerts; DELETE FROM dead_letters");
  await env.WORLD.exec("DELETE FROM effects; DELETE FROM calls; DELETE FROM runs");
});
const alerts = async () => (await evidenceOf(env.WORLD, ALERTS))["alert.sent"] ?? 0;

test("C8: a dead letter is stored with what killed it, operators are told once, and it is acked", async () => {
  const signup = await newSignup({ "mail.send": { always: "fail" } });
  for (const attempts of [1, 2, 3, 4]) await deliver([signup], { attempts });
  const { ids, acked } = await deliver([signup], { queue });
  expect(acked).toEqual(ids);
  expect(await letterOf(ids[0] ?? "")).toMatchObject({
    signup_id: signup.id,
    body: JSON.stringify(signup),
    reason: expect.stringContaining("mail.send: unavailable"),
    attempts: 4,
  });
  const again = await deliver([signup], { queue, ids, attempts: 2 });
  expect(again.acked).toEqual(ids);
  expect(await alerts()).toBe(1);
  expect(await evidence(signup.id)).toEqual({});
});

test("a dead letter of which no failure was noted says so", async () => {
  const { ids } = await deliver([await newSignup(), null], { queue });
  for (const id of ids) {
    expect(await letterOf(id)).toMatchObject({ reason: "its retries are used up", attempts: null });
  }
});

test("a dead letter that cannot be stored is retried, and its neighbours are stored", async () => {
  const ids = [crypto.randomUUID(), crypto.randomUUID()];
  const lost = await deliver([null, {}], { queue, ids, env: withoutDatabase });
  expect(lost.retried).toEqual(ids);
  const second = await deliver([null, {}], { queue, ids, attempts: 2 });
  expect(second).toMatchObject({ retried: [], acked: ids });
});

test("its hundred retries outlast the 14 days that a message can live, however short chance makes them", async () => {
  // Seconds only ever get fewer by chance: this is as few as there can be.
  const random = vi.spyOn(Math, "random").mockReturnValue(1 - Number.EPSILON);
  const quiet = vi.spyOn(console, "error").mockImplementation(() => undefined);
  let seconds = 0;
  try {
    for (let attempts = 1; attempts <= 100; attempts++) {
      const batch = createMessageBatch(queue, [
        { id: `away-${attempts}`, timestamp: new Date(), attempts, body: null },
      ]);
      const [message] = batch.messages;
      if (!message) throw new Error("the batch is empty");
      const retry = vi.spyOn(message, "retry");
      await consumeDeadLetters(batch, { ...env, ...withoutDatabase });
      seconds += retry.mock.calls[0]?.[0]?.delaySeconds ?? 0;
    }
  } finally {
    random.mockRestore();
    quiet.mockRestore();
  }
  expect(seconds / (24 * 60 * 60)).toBeGreaterThan(14);
});

describe("operators", () => {
  const bodies = (count: number) => Array.from({ length: count }, (_, nth) => ({ nth }));
  const QUARTER_MS = 15 * 60 * 1000;

  test("hear once of all letters that die in one outage, and of the rest a quarter of an hour later", async () => {
    for (let batch = 0; batch < 5; batch++) await deliver(bodies(10), { queue });
    expect(await alerts()).toBe(1);
    expect(await alertOperators(env, Date.now() + QUARTER_MS)).toBe(40);
    expect(await alerts()).toBe(2);
    // Nothing new, no alert.
    expect(await alertOperators(env, Date.now() + 2 * QUARTER_MS)).toBe(0);
    expect(await alerts()).toBe(2);
  });

  test("hear once, whoever tells them at the same moment", async () => {
    await deliver([], { queue });
    await env.DB.exec(
      "INSERT INTO dead_letters (id, reason, stored_at) VALUES ('one', 'test', 1), ('two', 'test', 2)",
    );
    const told = await Promise.all([1, 2, 3, 4, 5].map(() => alertOperators(env)));
    expect(told.toSorted((a, b) => a - b)).toEqual([0, 0, 0, 0, 2]);
    expect(await alerts()).toBe(1);
  });

  test.each(["fail-after-effect", "fail"] as const)(
    "whose alert says %s are told by the cron, and no letter comes again for it",
    async (fault) => {
      await scriptFaults(env.WORLD, ALERTS, { "alerts.send": [fault] });
      const { ids, acked } = await deliver([{}], { queue });
      expect(acked).toEqual(ids);
      const cron = createScheduledController({ scheduledTime: new Date(), cron: "*/15 * * * *" });
      await consumer.scheduled(cron, env);
      expect(await alerts()).toBe(1);
      expect(await letterOf(ids[0] ?? "")).toHaveProperty("alerted_at", expect.any(Number));
    },
  );

  test("are not told of letters that somebody has settled already", async () => {
    await env.DB.exec(
      "INSERT INTO dead_letters (id, reason, stored_at, settled_as, settled_by, settled_at) VALUES ('one', 'test', 1, 'discarded', 'ada', 2)",
    );
    expect(await alertOperators(env)).toBe(0);
  });
});

test("a body of 127,000 bytes survives as it is", async () => {
  const body = { id: "welcome-1", email: "ä".repeat(63_000) };
  const { ids } = await deliver([body], { queue });
  expect(JSON.parse((await letterOf(ids[0] ?? ""))?.body ?? "")).toEqual(body);
});

test("a decided dead letter stays decided when its message comes again", async () => {
  const { ids } = await deliver([{}], { queue });
  await env.DB.prepare(
    "UPDATE dead_letters SET settled_as = 'discarded', settled_by = 'ada', settled_at = 1, body = NULL WHERE id = ?1",
  )
    .bind(ids[0])
    .run();
  await deliver([{ email: "again@example.com" }], { queue, ids, attempts: 2 });
  expect(await letterOf(ids[0] ?? "")).toMatchObject({ settled_as: "discarded", body: null });
});
