import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import {
  claim,
  complete,
  completeStatement,
  consumeOnce,
  FingerprintConflictError,
  fingerprintOf,
  fingerprintOfBody,
  forget,
  get,
  InDoubtError,
  keyFor,
  LeaseLostError,
  NothingHappenedError,
  PermanentError,
  type ConsumeOnceOptions,
} from "../src/index.ts";
import { overBadConnection, type Statement } from "./fault.ts";
import { clockAt, newKey, owned, rowOf } from "./helpers.ts";

const db = env.DB;
const leaseMs = 60_000;
const noJitter = { random: () => 0 };
const never = new Promise<never>(() => undefined);

interface Order {
  key: string;
  text?: string;
}

/** Delivers bodies as one batch and tells what the consumer did with each message. */
async function deliver<Body extends Order>(
  bodies: Body[],
  options: Omit<ConsumeOnceOptions<Body>, "db" | "key"> & Partial<ConsumeOnceOptions<Body>>,
  attempts = 1,
) {
  const batch = createMessageBatch<Body>(
    "orders",
    bodies.map((body, n) => ({ id: `m${n}`, timestamp: 0, attempts, body })),
  );
  const outcomes = await consumeOnce(batch, {
    db,
    key: ({ body }) => body.key,
    backoff: noJitter,
    ...options,
  });
  const { explicitAcks, retryMessages } = await getQueueResult(batch, createExecutionContext());
  return {
    outcomes,
    told: outcomes.map(({ outcome }) => outcome),
    acked: explicitAcks.toSorted(),
    retried: retryMessages.map(({ msgId }) => msgId).toSorted(),
  };
}

/** A handler that counts how often it ran for each key. */
function counting() {
  const runs = new Map<string, number>();
  return {
    handler: ({ body }: { body: Order }) => {
      runs.set(body.key, (runs.get(body.key) ?? 0) + 1);
    },
    runs: (key: string) => runs.get(key) ?? 0,
  };
}

function orders(count: number): Order[] {
  return Array.from({ length: count }, () => ({ key: newKey() }));
}

describe("consumeOnce", () => {
  it("handles each message once, acks it, and acks its duplicate without work", async () => {
    const batch = orders(3);
    const { handler, runs } = counting();
    const first = await deliver(batch, { handler });
    expect(first).toMatchObject({
      told: ["done", "done", "done"],
      acked: ["m0", "m1", "m2"],
      retried: [],
    });
    const second = await deliver(batch, { handler });
    expect(second).toMatchObject({
      told: ["duplicate", "duplicate", "duplicate"],
      acked: ["m0", "m1", "m2"],
    });
    expect(batch.map(({ key }) => runs(key))).toEqual([1, 1, 1]);
  });

  it("needs two statements for a batch of 100", async () => {
    const sent: Statement[] = [];
    const counted = overBadConnection(db, (statement) => void sent.push(statement));
    const { acked } = await deliver(orders(100), { handler: () => undefined, db: counted });
    expect(acked).toHaveLength(100);
    expect(sent).toEqual(["claim", "complete"]);
  });

  it("runs a key that is twice in one batch once, and acks both", async () => {
    const [order] = orders(1);
    if (!order) throw new Error("one order was made");
    const { handler, runs } = counting();
    const result = await deliver([order, ...orders(1), order], { handler });
    expect(result).toMatchObject({
      told: ["done", "done", "duplicate"],
      acked: ["m0", "m1", "m2"],
    });
    expect(runs(order.key)).toBe(1);
  });

  it("hands the message, the key, its token and a signal to the handler", async () => {
    const [order] = orders(1);
    if (!order) throw new Error("one order was made");
    expect.assertions(3);
    await deliver([order], {
      handler: async (message, { signal, ...lease }) => {
        expect(message.body).toEqual(order);
        expect(lease).toEqual({ key: order.key, owner: (await rowOf(db, order.key))?.owner });
        expect(signal.aborted).toBe(false);
      },
    });
  });

  it("retries what failed with back-off from its own attempts, and lets its key go", async () => {
    const [good, bad] = orders(2);
    if (!good || !bad) throw new Error("two orders were made");
    const handler = ({ body }: { body: Order }) => {
      if (body.key === bad.key) throw new Error("[simulated] down");
    };
    const result = await deliver([good, bad, bad], { handler }, 3);
    expect(result).toMatchObject({
      told: ["done", "failed", "failed"],
      acked: ["m0"],
      retried: ["m1", "m2"],
    });
    expect(result.outcomes[1]).toEqual({
      messageId: "m1",
      key: bad.key,
      outcome: "failed",
      error: new Error("[simulated] down"),
      tookMs: expect.any(Number),
      delaySeconds: 40,
    });
    expect(await deliver([bad], { handler: () => undefined })).toMatchObject({ told: ["done"] });
  });

  it("retries after the lease what another consumer is at work on", async () => {
    const batch = orders(1);
    const clock = clockAt(0);
    await claim(db, batch, { leaseMs, now: clock.now });
    clock.step(15_500);
    const { handler, runs } = counting();
    const result = await deliver(batch, { handler, now: clock.now });
    expect(result).toMatchObject({
      retried: ["m0"],
      outcomes: [{ outcome: "in progress", delaySeconds: 45 }],
    });
    expect(batch.map(({ key }) => runs(key))).toEqual([0]);
  });

  it("never asks for a delay that the queue would refuse", async () => {
    const batch = orders(1);
    await claim(db, batch, { leaseMs: 7 * 86_400_000 });
    const result = await deliver(batch, { handler: () => undefined });
    expect(result.outcomes).toMatchObject([{ outcome: "in progress", delaySeconds: 86_400 }]);
  });

  it("runs handlers side by side, up to the limit", async () => {
    let running = 0;
    let most = 0;
    const full = Promise.withResolvers<void>();
    await deliver(orders(20), {
      concurrency: 4,
      handler: async () => {
        running += 1;
        most = Math.max(most, running);
        if (running === 4) full.resolve();
        await full.promise;
        running -= 1;
      },
    });
    expect(most).toBe(4);
  });

  it("accepts a handler that completes its key with its own rows", async () => {
    const batch = orders(1);
    const result = await deliver(batch, {
      handler: (_message, context) =>
        db.batch([completeStatement(db, [{ ...context, result: "rows" }])]),
    });
    expect(result.told).toEqual(["done"]);
    expect((await rowOf(db, batch[0]?.key ?? ""))?.result).toBe('"rows"');
  });

  it("does nothing for an empty batch", async () => {
    expect(await deliver([], { handler: () => undefined })).toMatchObject({
      outcomes: [],
      acked: [],
    });
  });

  it.each([
    { leaseMs: 0 },
    { leaseMs: Number.NaN },
    { leaseMs: 2 ** 31 },
    { concurrency: 0 },
    { concurrency: 1.5 },
    { handlerTimeoutMs: 0 },
    { batchTimeoutMs: 10, handlerTimeoutMs: 11 },
    { batchTimeoutMs: 2 ** 31 },
    { providerRemembersMs: -1 },
    { retentionMs: 59_999 },
    { table: 'keys"; --' },
    { backoff: { baseSeconds: 0 } },
  ])("refuses %o and touches no message", async (wrong) => {
    const batch = createMessageBatch<Order>("orders", [
      { id: "m0", timestamp: 0, attempts: 1, body: { key: newKey() } },
    ]);
    await expect(
      consumeOnce(batch, { db, key: ({ body }) => body.key, handler: () => undefined, ...wrong }),
    ).rejects.toThrow(new RegExp(`^(?:${Object.keys(wrong).join("|")}|baseSeconds) must be`));
    const { explicitAcks, retryMessages } = await getQueueResult(batch, createExecutionContext());
    expect([explicitAcks, retryMessages]).toEqual([[], []]);
  });
});

describe("a permanent failure in consumeOnce", () => {
  const hopeless = () => {
    throw new PermanentError("no such address");
  };

  it("goes to the callback and is acked, and its key is free for a corrected message", async () => {
    const batch = orders(1);
    const parked: unknown[] = [];
    const result = await deliver(batch, {
      handler: hopeless,
      onPermanentFailure: ({ id }, error) => parked.push([id, String(error)]),
    });
    expect(result).toMatchObject({ told: ["permanent failure"], acked: ["m0"], retried: [] });
    expect(parked).toEqual([["m0", "PermanentError: no such address"]]);
    expect(await deliver(batch, { handler: () => undefined })).toMatchObject({ told: ["done"] });
  });

  it("is told of every message of the key", async () => {
    const [order] = orders(1);
    if (!order) throw new Error("one order was made");
    const parked: string[] = [];
    const result = await deliver([order, order], {
      handler: hopeless,
      onPermanentFailure: ({ id }) => parked.push(id),
    });
    expect(result.acked).toEqual(["m0", "m1"]);
    expect(parked.toSorted()).toEqual(["m0", "m1"]);
  });

  it("is retried if the callback fails, so that it is not lost", async () => {
    const result = await deliver(orders(2), {
      handler: hopeless,
      onPermanentFailure: async ({ id }) => {
        if (id === "m0") throw new Error("[simulated] the store is down");
      },
    });
    expect(result).toMatchObject({
      acked: ["m1"],
      retried: ["m0"],
      told: ["failed", "permanent failure"],
    });
    expect(result.outcomes[0]?.error).toEqual(new Error("[simulated] the store is down"));
  });

  it("is retried if there is no callback: the dead letter queue takes it in the end", async () => {
    const result = await deliver(orders(1), { handler: hopeless });
    expect(result).toMatchObject({ told: ["failed"], acked: [], retried: ["m0"] });
  });

  it("is what isPermanent says", async () => {
    const result = await deliver(orders(2), {
      handler: ({ id }) => Promise.reject(new Error(id)),
      isPermanent: (error) => {
        if (String(error) === "Error: m1") throw new Error("cannot tell");
        return true;
      },
      onPermanentFailure: () => undefined,
    });
    expect(result).toMatchObject({ acked: ["m0"], retried: ["m1"] });
  });

  it("is another payload under the same key, within a batch and after it", async () => {
    const key = newKey();
    const { handler, runs } = counting();
    const options = {
      handler,
      fingerprint: ({ body }: { body: Order }) => body.text ?? "",
      onPermanentFailure: () => undefined,
    };
    const one = { key, text: "one" };
    const two = { key, text: "two" };
    const first = await deliver([one, two, one], options);
    expect(first).toMatchObject({
      told: ["done", "permanent failure", "duplicate"],
      acked: ["m0", "m1", "m2"],
    });
    expect(first.outcomes[1]?.error).toBeInstanceOf(FingerprintConflictError);
    const second = await deliver([two, one], options);
    expect(second.told).toEqual(["permanent failure", "duplicate"]);
    expect(runs(key)).toBe(1);
  });
});

describe("nothing that one message does touches another:", () => {
  const good = () => orders(1)[0] ?? { key: "" };

  it.each<[string, Partial<ConsumeOnceOptions<Order>>]>([
    [
      "its key function throws",
      {
        key: ({ id, body }) => {
          if (id === "m1") throw new Error("no key");
          return body.key;
        },
      },
    ],
    [
      "its key never comes to be",
      { key: ({ id, body }) => (id === "m1" ? Promise.reject(new Error("no key")) : body.key) },
    ],
    [
      "its key is no text",
      { key: ({ id, body }) => (id === "m1" ? JSON.parse("null") : body.key) },
    ],
    ["its key is empty", { key: ({ id, body }) => (id === "m1" ? "" : body.key) }],
    [
      "its key is made of a field that is not there",
      { key: ({ id, body }) => (id === "m1" ? `welcome:${JSON.parse("{}").userId}` : body.key) },
    ],
    [
      "its key has a part that is not there",
      {
        key: ({ id, body }) =>
          id === "m1" ? keyFor("welcome", JSON.parse("{}").userId) : body.key,
      },
    ],
    ["its key is too long", { key: ({ id, body }) => (id === "m1" ? "x".repeat(513) : body.key) }],
    [
      "its key has a lone surrogate",
      { key: ({ id, body }) => (id === "m1" ? "\ud800" : body.key) },
    ],
    [
      "its fingerprint throws",
      {
        fingerprint: ({ id }) => {
          if (id === "m1") throw new Error("no fingerprint");
          return id;
        },
      },
    ],
    [
      "its handler throws a permanent error",
      {
        handler: ({ id }) => {
          if (id === "m1") throw new PermanentError("never");
        },
      },
    ],
  ])("%s", async (_how, options) => {
    const result = await deliver([good(), good(), good()], {
      handler: () => undefined,
      onPermanentFailure: () => undefined,
      ...options,
    });
    expect(result).toMatchObject({
      told: ["done", "permanent failure", "done"],
      acked: ["m0", "m1", "m2"],
    });
  });

  it.each<[string, Partial<ConsumeOnceOptions<Order>>]>([
    [
      "its handler throws",
      {
        handler: ({ id }) => {
          if (id === "m1") throw new Error("[simulated]");
        },
      },
    ],
    [
      "its handler rejects with nothing",
      { handler: ({ id }) => (id === "m1" ? Promise.reject() : undefined) },
    ],
    [
      "its handler never ends",
      { handler: ({ id }) => (id === "m1" ? never : undefined), handlerTimeoutMs: 20 },
    ],
    [
      "its key function never ends",
      { key: ({ id, body }) => (id === "m1" ? never : body.key), handlerTimeoutMs: 20 },
    ],
    [
      "its callback never ends",
      {
        handler: ({ id }) => {
          if (id === "m1") throw new PermanentError("never");
        },
        onPermanentFailure: () => never,
        handlerTimeoutMs: 20,
      },
    ],
  ])("%s", async (_how, options) => {
    const result = await deliver([good(), good(), good()], {
      handler: () => undefined,
      onPermanentFailure: () => undefined,
      ...options,
    });
    expect(result).toMatchObject({
      told: ["done", "failed", "done"],
      acked: ["m0", "m2"],
      retried: ["m1"],
    });
  });
});

it("a key that comes after its time in consumeOnce comes to nothing", async () => {
  const late = Promise.withResolvers<string>();
  const result = await deliver(orders(2), {
    handler: () => undefined,
    handlerTimeoutMs: 20,
    key: ({ id, body }) => (id === "m1" ? late.promise : body.key),
    db: overBadConnection(db, () => {
      late.resolve(newKey());
      return undefined;
    }),
  });
  expect(result).toMatchObject({ told: ["done", "failed"], outcomes: [{}, { key: undefined }] });
});

describe("leases in consumeOnce", () => {
  it("a handler that runs out of time keeps its lease, since it may still be at work", async () => {
    const batch = orders(1);
    const clock = clockAt(0);
    let aborted: unknown;
    const result = await deliver(batch, {
      now: clock.now,
      monotonicNow: clock.now,
      leaseMs,
      handlerTimeoutMs: 20,
      handler: (_message, { signal }) => {
        signal.addEventListener("abort", () => (aborted = signal.reason));
        clock.step(10_000);
        return never;
      },
    });
    expect(result.outcomes).toMatchObject([
      { outcome: "failed", error: { name: "TimeoutError" }, delaySeconds: 50 },
    ]);
    expect(aborted).toMatchObject({ name: "TimeoutError" });
    expect(await claim(db, batch, { leaseMs, now: clock.now })).toMatchObject([
      { state: "in progress" },
    ]);
  });

  it("a handler that runs out of time after its lease is retried as soon as a queue can", async () => {
    const clock = clockAt(0);
    const result = await deliver(orders(1), {
      now: clock.now,
      monotonicNow: clock.now,
      leaseMs,
      handlerTimeoutMs: 20,
      handler: () => {
        clock.step(2 * leaseMs);
        return never;
      },
    });
    expect(result.outcomes).toMatchObject([{ outcome: "failed", delaySeconds: 1 }]);
  });

  it("a handler does not start with less of the lease left than it may take", async () => {
    const batch = orders(3);
    const clock = clockAt(0);
    const { handler, runs } = counting();
    const result = await deliver(batch, {
      now: clock.now,
      monotonicNow: clock.now,
      leaseMs,
      handlerTimeoutMs: 20_000,
      concurrency: 1,
      // It never ran, so it cannot have failed for good.
      isPermanent: () => true,
      onPermanentFailure: () => undefined,
      handler: (message) => {
        handler(message);
        clock.step(20_001);
      },
    });
    expect(result).toMatchObject({
      told: ["done", "done", "not started"],
      acked: ["m0", "m1"],
      retried: ["m2"],
      outcomes: [{}, {}, { delaySeconds: 1 }],
    });
    expect(batch.map(({ key }) => runs(key))).toEqual([1, 1, 0]);
    expect(await claim(db, batch, { leaseMs, now: clock.now })).toMatchObject([
      { state: "done" },
      { state: "done" },
      { state: "claimed" },
    ]);
  });

  it("a message whose lease was lost is not acked before somebody has done its work", async () => {
    const batch = orders(1);
    const clock = clockAt(0);
    const result = await deliver(batch, {
      now: clock.now,
      leaseMs,
      handler: async () => {
        clock.step(leaseMs);
        await claim(db, batch, { leaseMs, now: clock.now });
      },
    });
    expect(result).toMatchObject({ told: ["failed"], retried: ["m0"] });
    expect(result.outcomes[0]?.error).toBeInstanceOf(LeaseLostError);
  });

  it("two consumers of the same messages at the same time do the work of each once", async () => {
    const batch = orders(30);
    const { handler, runs } = counting();
    const results = await Promise.all(Array.from({ length: 5 }, () => deliver(batch, { handler })));
    expect(batch.map(({ key }) => runs(key))).toEqual(batch.map(() => 1));
    expect(results.every(({ acked, retried }) => acked.length + retried.length === 30)).toBe(true);
  });
});

describe("consumeOnce, by crash window", () => {
  it("D1 not to be reached at the claim: nothing runs, all are retried", async () => {
    const { handler, runs } = counting();
    const batch = orders(2);
    const result = await deliver(batch, { handler, db: overBadConnection(db, () => "lost") });
    expect(result).toMatchObject({ told: ["failed", "failed"], retried: ["m0", "m1"] });
    expect(batch.map(({ key }) => runs(key))).toEqual([0, 0]);
  });

  it("D1 not to be reached at the completion: nothing is acked, all are retried after the lease", async () => {
    const { handler, runs } = counting();
    const batch = orders(2);
    const clock = clockAt(0);
    const cut = overBadConnection(db, (statement) =>
      statement === "complete" ? "lost" : undefined,
    );
    const result = await deliver(batch, { handler, db: cut, leaseMs, now: clock.now });
    expect(result.outcomes).toMatchObject([
      { outcome: "failed", delaySeconds: 60 },
      { outcome: "failed", delaySeconds: 60 },
    ]);
    clock.step(60_000);
    expect(await deliver(batch, { handler, leaseMs, now: clock.now })).toMatchObject({
      acked: ["m0", "m1"],
    });
    // The open window: without the provider's own key these are two effects each.
    expect(batch.map(({ key }) => runs(key))).toEqual([2, 2]);
  });

  it("the answer to the completion lost for good: not acked, and acked the next time without work", async () => {
    const { handler, runs } = counting();
    const batch = orders(1);
    const cut = overBadConnection(db, (statement) =>
      statement === "complete" ? "unanswered" : undefined,
    );
    expect(await deliver(batch, { handler, db: cut })).toMatchObject({ retried: ["m0"] });
    expect(await deliver(batch, { handler })).toMatchObject({ told: ["duplicate"], acked: ["m0"] });
    expect(batch.map(({ key }) => runs(key))).toEqual([1]);
  });

  it("D1 not to be reached at the release: retried all the same, and free after the lease", async () => {
    const batch = orders(1);
    const clock = clockAt(0);
    const cut = overBadConnection(db, (statement) =>
      statement === "release" ? "lost" : undefined,
    );
    const failing = () => Promise.reject(new Error("[simulated] down"));
    expect(await deliver(batch, { handler: failing, db: cut, now: clock.now })).toMatchObject({
      retried: ["m0"],
    });
    expect(await deliver(batch, { handler: () => undefined, now: clock.now })).toMatchObject({
      told: ["in progress"],
    });
    clock.step(60_000);
    expect(await deliver(batch, { handler: () => undefined, now: clock.now })).toMatchObject({
      told: ["done"],
    });
  });

  it("killed after the completion, before the ack: acked the next time without work", async () => {
    const [order] = orders(1);
    if (!order) throw new Error("one order was made");
    await complete(db, (await claim(db, [order], { leaseMs })).map(owned));
    const { handler, runs } = counting();
    expect(await deliver([order], { handler })).toMatchObject({
      told: ["duplicate"],
      acked: ["m0"],
    });
    expect(runs(order.key)).toBe(0);
  });
});

describe("a batch that takes longer than a lease", () => {
  /** 100 messages, one after the other, each of a fortieth of a lease. */
  const slow = (options: Partial<ConsumeOnceOptions<Order>> = {}) => {
    const clock = clockAt(0);
    const sent: Statement[] = [];
    return {
      clock,
      sent,
      batch: orders(100),
      options: {
        db: overBadConnection(db, (statement) => void sent.push(statement)),
        now: clock.now,
        monotonicNow: clock.now,
        timer: clock.timer,
        leaseMs,
        concurrency: 1,
        handler: () => clock.pass(leaseMs / 40),
        ...options,
      },
    };
  };

  it("is done at one delivery: leases are renewed for as long as it is at work", async () => {
    const { batch, options, sent, clock } = slow();
    const result = await deliver(batch, options);
    expect(result.told).toEqual(batch.map(() => "done"));
    expect(clock.now()).toBe(2.5 * leaseMs);
    // One for each third of a lease, whatever the number of keys.
    expect(sent).toEqual(["claim", ...Array.from({ length: 7 }, () => "renew"), "complete"]);
    expect(clock.waiting).toBe(0);
  });

  it("keeps others from its keys, the finished ones too, until all is recorded", async () => {
    const batch = orders(2);
    const clock = clockAt(0);
    const seen: string[][] = [];
    const result = await deliver(batch, {
      now: clock.now,
      monotonicNow: clock.now,
      timer: clock.timer,
      leaseMs,
      concurrency: 1,
      handler: async ({ id }) => {
        if (id === "m0") return;
        for (let n = 0; n < 5; n++) {
          await clock.pass(leaseMs / 2);
          const claims = await claim(db, batch, { leaseMs, now: clock.now });
          seen.push(claims.map(({ state }) => state));
        }
      },
    });
    expect(new Set(seen.flat())).toEqual(new Set(["in progress"]));
    expect(result.told).toEqual(["done", "done"]);
  });

  it("bears a renewal that fails, and starts no handler under a lease that may have ended", async () => {
    let down = false;
    let renewals = 0;
    const cut = overBadConnection(db, (statement) => {
      if (statement === "renew") renewals += 1;
      return statement === "renew" && down ? "lost" : undefined;
    });
    const signals: AbortSignal[] = [];
    const clock = clockAt(0);
    const batch = orders(4);
    const { told, retried } = await deliver(batch, {
      db: cut,
      now: clock.now,
      monotonicNow: clock.now,
      timer: clock.timer,
      leaseMs,
      concurrency: 1,
      handler: async ({ id }, { signal }) => {
        signals.push(signal);
        down = true;
        await clock.pass(leaseMs / 3);
        if (id === "m0") down = false;
        await clock.pass(leaseMs / 3);
      },
    });
    expect(renewals).toBeGreaterThan(2);
    // The first's failed once and then worked, the second's failed twice: too little is left for a third.
    expect(told).toEqual(["done", "done", "not started", "not started"]);
    expect(retried).toEqual(["m2", "m3"]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  });

  it("tells a handler by its signal that its lease is lost: to another caller, or to a clock", async () => {
    for (const takeOver of [true, false]) {
      const batch = orders(1);
      const clock = clockAt(0);
      let reason: unknown;
      const result = await deliver(batch, {
        db: overBadConnection(db, (statement) =>
          statement === "renew" && !takeOver ? "lost" : undefined,
        ),
        now: clock.now,
        monotonicNow: clock.now,
        timer: clock.timer,
        leaseMs,
        handler: async (_message, { signal }) => {
          if (takeOver) {
            clock.step(leaseMs);
            await claim(db, batch, { leaseMs, now: clock.now });
          }
          await clock.pass(leaseMs);
          reason = signal.reason;
          signal.throwIfAborted();
        },
      });
      expect(reason).toBeInstanceOf(LeaseLostError);
      expect(result.told).toEqual(["failed"]);
      expect(result.outcomes[0]?.error).toBe(reason);
      expect(clock.waiting).toBe(0);
    }
  });

  it("starts no handler that might not end within batchTimeoutMs, and lets its key go untouched", async () => {
    const { batch, options, clock } = slow({
      batchTimeoutMs: 2 * leaseMs,
      handlerTimeoutMs: leaseMs / 40,
    });
    const result = await deliver(batch, options);
    expect(result.told).toEqual([
      ...Array.from({ length: 80 }, () => "done"),
      ...Array.from({ length: 20 }, () => "not started"),
    ]);
    expect(result.outcomes[99]).toMatchObject({ delaySeconds: 1 });
    expect(await get(db, batch[99]?.key ?? "", clock)).toMatchObject({
      state: "unfinished",
      tries: 0,
    });
  });
});

describe("a fingerprint of a whole consumer", () => {
  it("is of the body, and its error carries what the key stands for", async () => {
    const [order] = orders(1);
    if (!order) throw new Error("one order was made");
    const options = {
      handler: () => undefined,
      fingerprint: fingerprintOfBody,
      onPermanentFailure: () => undefined,
    };
    expect(await deliver([order, { ...order }], options)).toMatchObject({
      told: ["done", "duplicate"],
    });
    const other = await deliver([{ ...order, text: "other" }], options);
    expect(other.told).toEqual(["permanent failure"]);
    expect(other.outcomes[0]?.error).toBeInstanceOf(FingerprintConflictError);
    expect(other.outcomes[0]?.error).toMatchObject({
      record: { key: order.key, state: "done", fingerprint: await fingerprintOf(order) },
    });
  });
});

describe("onOutcome", () => {
  it("is told of every message what consumeOnce gives back, with the time that its handler took", async () => {
    const batch = orders(2);
    const clock = clockAt(0);
    const [first] = batch;
    if (!first) throw new Error("two orders were made");
    const told: unknown[] = [];
    const result = await deliver([...batch, first], {
      monotonicNow: clock.now,
      concurrency: 1,
      handler: () => clock.step(7),
      onOutcome: (outcome, { id }) => told.push([id, outcome]),
    });
    expect(told).toEqual(
      expect.arrayContaining(result.outcomes.map((outcome) => [outcome.messageId, outcome])),
    );
    expect(result.outcomes.map(({ outcome, tookMs }) => [outcome, tookMs])).toEqual([
      ["done", 7],
      ["done", 7],
      ["duplicate", undefined],
    ]);
  });

  it("costs no message when it throws or never ends", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const result = await deliver(orders(3), {
      handler: () => undefined,
      handlerTimeoutMs: 20,
      onOutcome: ({ messageId }) => {
        if (messageId === "m0") throw new Error("[simulated] metrics are down");
        return messageId === "m1" ? never : undefined;
      },
    });
    expect(result).toMatchObject({ told: ["done", "done", "done"], acked: ["m0", "m1", "m2"] });
    expect(logged).toHaveBeenCalledTimes(2);
    logged.mockRestore();
  });
});

describe("a provider that forgets, in consumeOnce", () => {
  const hour = 3_600_000;

  /** A consumer that died in the middle of its work, at the clock's time. */
  async function died(batch: Order[], clock: ReturnType<typeof clockAt>) {
    await claim(db, batch, { leaseMs, now: clock.now });
  }

  it("is asked again while it remembers, and a person once it may not", async () => {
    const clock = clockAt(0);
    const [soon, late] = [orders(1), orders(1)];
    await died([...soon, ...late], clock);
    const { handler, runs } = counting();
    const parked: unknown[] = [];
    const options: Partial<ConsumeOnceOptions<Order>> = {
      now: clock.now,
      leaseMs,
      providerRemembersMs: 24 * hour,
      onPermanentFailure: (_message, error) => parked.push(error),
    };
    clock.step(23 * hour);
    expect(await deliver(soon, { handler, ...options })).toMatchObject({ told: ["done"] });
    clock.step(2 * hour);
    expect(await deliver(late, { handler, ...options })).toMatchObject({
      told: ["permanent failure"],
      acked: ["m0"],
    });
    expect([...soon, ...late].map(({ key }) => runs(key))).toEqual([1, 0]);
    expect(parked).toEqual([expect.any(InDoubtError)]);
    expect(parked[0]).toMatchObject({
      record: { key: late[0]?.key, state: "unfinished", tries: 1, firstClaimedAt: 0 },
      message: expect.stringContaining("begun at 1970-01-01T00:00:00.000Z and never finished"),
    });
    // What is done is a duplicate however long ago it was.
    expect(await deliver(soon, { handler, ...options })).toMatchObject({ told: ["duplicate"] });
    // A person has looked, and wants it sent.
    expect(await forget(db, [late[0]?.key ?? ""], clock)).toEqual([true]);
    expect(await deliver(late, { handler, ...options })).toMatchObject({ told: ["done"] });
  });

  it("is not asked by a handler that starts so late in its batch that it may end too late", async () => {
    const clock = clockAt(0);
    const batch = orders(2);
    await died(batch, clock);
    const { handler, runs } = counting();
    clock.step(hour - leaseMs);
    const result = await deliver(batch, {
      now: clock.now,
      monotonicNow: clock.now,
      timer: clock.timer,
      leaseMs,
      concurrency: 1,
      handlerTimeoutMs: 20_000,
      providerRemembersMs: hour,
      onPermanentFailure: () => undefined,
      handler: async (message) => {
        handler(message);
        await clock.pass(50_000);
      },
    });
    expect(result.told).toEqual(["done", "permanent failure"]);
    expect(result.outcomes[1]?.error).toBeInstanceOf(InDoubtError);
    expect(result.outcomes[1]?.error).toMatchObject({ record: { state: "unfinished", tries: 1 } });
    expect(batch.map(({ key }) => runs(key))).toEqual([1, 0]);
  });

  it("that knows no keys is never asked twice, but for what surely had no effect", async () => {
    const batch = orders(2);
    const clock = clockAt(0);
    const options = {
      now: clock.now,
      leaseMs,
      providerRemembersMs: 0,
      onPermanentFailure: () => undefined,
    };
    const failing = ({ id }: { id: string }) => {
      throw id === "m0" ? new NothingHappenedError("429") : new Error("no answer");
    };
    expect(await deliver(batch, { handler: failing, ...options })).toMatchObject({
      told: ["failed", "failed"],
    });
    const { handler, runs } = counting();
    expect(await deliver(batch, { handler, ...options })).toMatchObject({
      told: ["done", "permanent failure"],
    });
    expect(batch.map(({ key }) => runs(key))).toEqual([1, 0]);
  });
});
