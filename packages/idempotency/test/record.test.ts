import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import {
  claim,
  complete,
  completeStatement,
  consumeOnce,
  forget,
  get,
  once,
  release,
  renew,
  sweep,
} from "../src/index.ts";
import { clockAt, newKey, owned, rowOf } from "./helpers.ts";

const db = env.DB;
const leaseMs = 60_000;

describe("get", () => {
  it("tells what is known of a key in each of its states, and changes nothing", async () => {
    const key = newKey();
    const clock = clockAt(1000);
    const options = { leaseMs, now: clock.now };
    const look = async () => {
      const before = await rowOf(db, key);
      const record = await get(db, key, clock);
      expect(await rowOf(db, key)).toEqual(before);
      return record;
    };
    expect(await look()).toBeNull();

    await claim(db, [{ key, fingerprint: "one" }], options);
    clock.step(20_000);
    expect(await look()).toEqual({
      key,
      state: "in progress",
      fingerprint: "one",
      tries: 1,
      firstClaimedAt: 1000,
      changedAt: 1000,
      leaseLeftMs: 40_000,
      result: undefined,
    });
    clock.step(40_000);
    expect(await look()).toMatchObject({ state: "unfinished", leaseLeftMs: 0 });
    const [again] = await claim(db, [{ key, fingerprint: "one" }], options);
    expect(await look()).toMatchObject({
      state: "in progress",
      tries: 2,
      firstClaimedAt: 1000,
      changedAt: 61_000,
    });
    await complete(db, [{ ...owned(again), result: { mail: 7 } }], clock);
    expect(await look()).toMatchObject({ state: "done", leaseLeftMs: 0, result: { mail: 7 } });
  });

  it("looks up what no claim would take any more", async () => {
    expect(await get(db, "welcome:undefined")).toBeNull();
    await expect(get(db, "")).rejects.toThrow(TypeError);
  });
});

describe("forget", () => {
  it("makes the next claim find a key new, unless somebody holds it", async () => {
    const [done, held, unfinished, unknown] = [newKey(), newKey(), newKey(), newKey()];
    const clock = clockAt(0);
    const options = { leaseMs, now: clock.now };
    const [first] = await claim(
      db,
      [{ key: done, fingerprint: "one" }, { key: unfinished }],
      options,
    );
    await complete(db, [owned(first)], clock);
    clock.step(leaseMs);
    await claim(db, [{ key: held }], options);
    expect(await forget(db, [done, held, unknown, unfinished], clock)).toEqual([
      true,
      false,
      false,
      true,
    ]);
    expect(
      await claim(
        db,
        [{ key: done, fingerprint: "two" }, { key: held }, { key: unfinished }],
        options,
      ),
    ).toMatchObject([
      { state: "claimed", record: { tries: 1 } },
      { state: "in progress" },
      { state: "claimed", record: { tries: 1 } },
    ]);
    expect(await forget(db, [])).toEqual([]);
  });
});

describe("renew", () => {
  it("makes leases last from now on, of those that still have them", async () => {
    const [mine, taken, done] = [newKey(), newKey(), newKey()];
    const clock = clockAt(0);
    const options = { leaseMs, now: clock.now };
    const claims = await claim(db, [{ key: mine }, { key: taken }, { key: done }], options);
    const leases = claims.map(owned);
    await complete(db, leases.slice(2), clock);
    clock.step(leaseMs);
    await claim(db, [{ key: taken }], options);
    const before = await Promise.all([taken, done].map((key) => rowOf(db, key)));

    // An ended lease that nobody has taken is its owner's, and so is what the owner has done.
    expect(await renew(db, leases, { leaseMs: 5, now: clock.now })).toEqual([true, false, true]);
    expect(await Promise.all([taken, done].map((key) => rowOf(db, key)))).toEqual(before);
    clock.step(4);
    expect(await claim(db, [{ key: mine }], options)).toMatchObject([
      { state: "in progress", retryAfterMs: 1 },
    ]);
    clock.step(1);
    expect(await claim(db, [{ key: mine }], options)).toMatchObject([{ state: "claimed" }]);
    expect(await renew(db, [], options)).toEqual([]);
    await expect(renew(db, leases, { leaseMs: 0 })).rejects.toThrow(RangeError);
  });
});

describe("release", () => {
  it("takes a claim back as if it had not been made, where nothing happened", async () => {
    const key = newKey();
    const clock = clockAt(0);
    const ask = (fingerprint: string) =>
      claim(db, [{ key, fingerprint }], { leaseMs, now: clock.now, providerRemembersMs: 0 });
    const [first] = await ask("one");
    await release(db, [{ ...owned(first), nothingHappened: true }]);
    expect(await get(db, key, clock)).toMatchObject({ tries: 0, state: "unfinished" });

    // Another payload, and the provider's memory begins here.
    clock.step(5);
    const [second] = await ask("two");
    expect(second).toMatchObject({
      state: "claimed",
      record: { tries: 1, fingerprint: "two", firstClaimedAt: 5 },
    });
    await release(db, [owned(second)]);
    expect(await ask("two")).toMatchObject([{ state: "in doubt", record: { tries: 1 } }]);
    expect(await ask("one")).toMatchObject([{ state: "conflict" }]);

    // An earlier try that may have had an effect is not taken back by a later one that had none.
    const [third] = await claim(db, [{ key, fingerprint: "two" }], { leaseMs, now: clock.now });
    await release(db, [{ ...owned(third), nothingHappened: true }]);
    expect(await ask("two")).toMatchObject([
      { state: "in doubt", record: { tries: 1, firstClaimedAt: 5 } },
    ]);
  });
});

it("a table of one's own keeps a tenant's keys apart from all others, in every function", async () => {
  const table = "acme_keys";
  for (const { queries } of env.TEST_MIGRATIONS) {
    await db.batch(queries.map((sql) => db.prepare(sql.replaceAll("idempotency_keys", table))));
  }
  const clock = clockAt(0);
  const mine = { table, now: clock.now };
  const [key, other, batchKey] = [newKey(), newKey(), newKey()];

  expect(await once(db, key, () => "mine", mine)).toEqual({ result: "mine", ran: true });
  expect(await once(db, key, () => "theirs", clock)).toEqual({ result: "theirs", ran: true });
  expect(await once(db, key, () => "again", mine)).toEqual({ result: "mine", ran: false });

  const [held] = await claim(db, [{ key: other }], { ...mine, leaseMs });
  expect(await get(db, other, clock)).toBeNull();
  expect(await renew(db, [owned(held)], { ...mine, leaseMs })).toEqual([true]);
  await db.batch([completeStatement(db, [owned(held)], mine)]);
  expect(await get(db, other, mine)).toMatchObject({ state: "done" });

  const ack = () => undefined;
  const message = {
    id: "m0",
    timestamp: new Date(0),
    attempts: 1,
    body: batchKey,
    ack,
    retry: ack,
  };
  const batch = {
    queue: "q",
    messages: [message],
    ackAll: ack,
    retryAll: ack,
  } as unknown as MessageBatch<string>;
  const options = { ...mine, db, key: ({ body }: Message<string>) => body };
  expect(await consumeOnce(batch, { ...options, handler: ack })).toMatchObject([
    { outcome: "done" },
  ]);
  expect(await rowOf(db, batchKey)).toBeNull();
  const [free] = await claim(db, [{ key: newKey() }], { ...mine, leaseMs });
  expect(await release(db, [owned(free)], mine)).toEqual([true]);

  expect(await forget(db, [key], mine)).toEqual([true]);
  expect(await get(db, key, clock)).toMatchObject({ result: "theirs" });
  clock.step(91 * 86_400_000);
  expect(await sweep(db, mine)).toEqual({ deleted: 3, more: false });
  expect(await get(db, key, clock)).toMatchObject({ result: "theirs" });
});

it.each(['a"; DROP TABLE x; --', "", "1a", "a b", "x".repeat(64)])(
  "refuses %j for a table",
  async (table) => {
    await expect(get(db, newKey(), { table })).rejects.toThrow(/^table must be a plain name/);
  },
);
