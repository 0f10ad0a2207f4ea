import { createMessageBatch } from "cloudflare:test";
import { openRun } from "@durable-lessons/outside-world";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { consumeDeadLetters } from "../../src/consume-dead-letters.ts";
import { QUEUES } from "../../src/queues.ts";
import { deliver, evidence, letterOf, newSignup, withoutDatabase } from "./helpers.ts";

const queue = QUEUES.signupsDeadLetters;

test("C8: a dead letter is stored with what killed it, alerts once, and is acked", async () => {
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
  expect(await evidence(ids[0] ?? "")).toEqual({ "alert.sent": 1 });
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
  await openRun(env.WORLD, ids[0] ?? "", { faults: { "alerts.send": ["fail"] } });
  const first = await deliver([null, {}], { queue, ids, attempts: 2 });
  expect(first).toMatchObject({ retried: [ids[0]], acked: [ids[1]] });
  const second = await deliver([null], { queue, ids, attempts: 3 });
  expect(second.acked).toEqual([ids[0]]);
  for (const id of ids) expect(await evidence(id)).toEqual({ "alert.sent": 1 });
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

test.each(["fail-after-effect", "fail"] as const)(
  "an alert that says %s is repeated until it is out, once",
  async (fault) => {
    const ids = [crypto.randomUUID()];
    await openRun(env.WORLD, ids[0] ?? "", { faults: { "alerts.send": [fault] } });
    const first = await deliver([{}], { queue, ids });
    expect(first.retried).toEqual(ids);
    const second = await deliver([{}], { queue, ids, attempts: 2 });
    expect(second.acked).toEqual(ids);
    expect(await evidence(ids[0] ?? "")).toEqual({ "alert.sent": 1 });
  },
);

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
  expect(await evidence(ids[0] ?? "")).toEqual({ "alert.sent": 1 });
});
