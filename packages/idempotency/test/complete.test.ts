import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { claim, complete, completeStatement, isLeaseLost, release } from "../src/index.ts";
import { clockAt, newKey, owned, rowOf } from "./helpers.ts";

const db = env.DB;
const leaseMs = 60_000;

describe("complete", () => {
  it.each([
    ["text", "ok"],
    ["a number", 0.1],
    ["null", null],
    ["false", false],
    ["nothing", undefined],
    ["a list", [1, [2], {}]],
    ["a lone surrogate", "\ud800"],
    ["text that is JSON", '{"a":"\\"b\\u0000"}'],
    ["an object with awkward names", { "": 1, "a.b": 2, '"': 3 }],
  ])("keeps %s as the result", async (_what, result) => {
    const key = newKey();
    const [held] = await claim(db, [{ key }], { leaseMs });
    expect(await complete(db, [{ ...owned(held), result }])).toEqual([true]);
    expect(await claim(db, [{ key }], { leaseMs })).toEqual([{ state: "done", key, result }]);
  });

  it("completes many in one statement, each with its own result and answer", async () => {
    const clock = clockAt(0);
    const keys = [newKey(), newKey(), newKey()];
    const claims = await claim(
      db,
      keys.map((key) => ({ key })),
      { leaseMs, now: clock.now },
    );
    const entries = claims.map((held, index) => ({ ...owned(held), result: index }));
    const [one, two, three] = entries;
    if (!one || !two || !three) throw new Error("three keys were claimed");
    expect(await complete(db, [three, { ...two, owner: "somebody else" }, one], clock)).toEqual([
      true,
      false,
      true,
    ]);
    expect(
      await claim(
        db,
        keys.map((key) => ({ key })),
        { leaseMs, now: clock.now },
      ),
    ).toMatchObject([
      { state: "done", result: 0 },
      { state: "in progress" },
      { state: "done", result: 2 },
    ]);
  });

  it("is safe to repeat: done stays done, with the first result and its time", async () => {
    const key = newKey();
    const clock = clockAt(1000);
    const [held] = await claim(db, [{ key }], { leaseMs, now: clock.now });
    await complete(db, [{ ...owned(held), result: "first" }], clock);
    const row = await rowOf(db, key);
    clock.step(1);
    expect(await complete(db, [{ ...owned(held), result: "second" }], clock)).toEqual([true]);
    expect(await release(db, [owned(held)])).toEqual([false]);
    expect(await rowOf(db, key)).toEqual(row);
  });

  it("is final: duplicates long after the lease leave the row as it is", async () => {
    const key = newKey();
    const clock = clockAt(0);
    const [held] = await claim(db, [{ key }], { leaseMs, now: clock.now });
    await complete(db, [owned(held)], clock);
    const row = await rowOf(db, key);
    clock.step(10 * leaseMs);
    expect(await claim(db, [{ key }], { leaseMs, now: clock.now })).toMatchObject([
      { state: "done" },
    ]);
    expect(await rowOf(db, key)).toEqual(row);
  });

  it("refuses results that cannot be kept, and completes nothing then", async () => {
    const claims = await claim(db, [{ key: newKey() }, { key: newKey() }], { leaseMs });
    const [one, two] = claims.map(owned);
    if (!one || !two) throw new Error("two keys were claimed");
    await expect(complete(db, [one, { ...two, result: 1n }])).rejects.toThrow(TypeError);
    await expect(complete(db, [one, { ...two, result: () => 1 }])).rejects.toThrow(TypeError);
    await expect(complete(db, [one, { ...two, result: "x".repeat(1_900_000) }])).rejects.toThrow(
      RangeError,
    );
    const half = "x".repeat(1_000_000);
    await expect(
      complete(db, [
        { ...one, result: half },
        { ...two, result: half },
      ]),
    ).rejects.toThrow(RangeError);
    expect((await rowOf(db, one.key))?.state).toBe("processing");
    expect(await complete(db, [{ ...one, result: "x".repeat(1_899_000) }, two])).toEqual([
      true,
      true,
    ]);
  });

  it("asks D1 nothing for no keys", async () => {
    expect(await complete(db, [])).toEqual([]);
    expect(await release(db, [])).toEqual([]);
  });
});

describe("release", () => {
  it("lets the next claim have the key at once", async () => {
    const [failed, other] = [newKey(), newKey()];
    const claims = await claim(db, [{ key: failed }, { key: other }], { leaseMs });
    const [first] = claims.map(owned);
    if (!first) throw new Error("a key was claimed");
    expect(await release(db, [first, { key: other, owner: "somebody else" }])).toEqual([
      true,
      false,
    ]);
    expect(await release(db, [first])).toEqual([false]);
    expect(await complete(db, [first])).toEqual([false]);
    expect(await claim(db, [{ key: failed }, { key: other }], { leaseMs })).toMatchObject([
      { state: "claimed" },
      { state: "in progress" },
    ]);
  });
});

describe("completeStatement", () => {
  const invoice = (key: string) => db.prepare("INSERT INTO invoices (key) VALUES (?)").bind(key);
  const invoices = (key: string) =>
    db.prepare("SELECT count(*) AS n FROM invoices WHERE key = ?").bind(key).first<number>("n");

  beforeAll(async () => {
    await db.prepare("CREATE TABLE invoices (key TEXT NOT NULL)").run();
  });

  it("marks the key as done in the same transaction as the rows of the work", async () => {
    const key = newKey();
    const lease = owned((await claim(db, [{ key }], { leaseMs }))[0]);
    await db.batch([invoice(key), completeStatement(db, [{ ...lease, result: 1 }])]);
    expect(await invoices(key)).toBe(1);
    expect(await claim(db, [{ key }], { leaseMs })).toEqual([{ state: "done", key, result: 1 }]);
  });

  it("leaves the key open if another statement of the batch fails", async () => {
    const key = newKey();
    const lease = owned((await claim(db, [{ key }], { leaseMs }))[0]);
    const error = await db
      .batch([
        completeStatement(db, [lease]),
        db.prepare("INSERT INTO invoices (key) VALUES (NULL)"),
      ])
      .catch((thrown: unknown) => thrown);
    expect(String(error)).toContain("NOT NULL constraint failed");
    expect(isLeaseLost(error)).toBe(false);
    expect((await rowOf(db, key))?.state).toBe("processing");
  });

  it.each<[string, (key: string) => Promise<unknown>]>([
    ["was taken over", (key) => claim(db, [{ key }], { leaseMs })],
    [
      "was taken over and the work is done",
      async (key) => complete(db, (await claim(db, [{ key }], { leaseMs })).map(owned)),
    ],
    [
      "was taken over and released",
      async (key) => release(db, (await claim(db, [{ key }], { leaseMs })).map(owned)),
    ],
    [
      "was swept",
      (key) => db.prepare("DELETE FROM idempotency_keys WHERE key = ?").bind(key).run(),
    ],
  ])("writes nothing of the batch if the lease %s", async (_how, meanwhile) => {
    const [key, other] = [newKey(), newKey()];
    const clock = clockAt(0);
    const leases = (await claim(db, [{ key: other }, { key }], { leaseMs, now: clock.now })).map(
      owned,
    );
    await meanwhile(key);
    const row = await rowOf(db, key);

    const error = await db
      .batch([invoice(key), completeStatement(db, leases)])
      .catch((thrown: unknown) => thrown);
    expect(isLeaseLost(error)).toBe(true);
    expect(await invoices(key)).toBe(0);
    expect((await rowOf(db, other))?.state).toBe("processing");
    expect(await rowOf(db, key)).toEqual(row);
  });

  it("is safe to repeat, and so is complete after it", async () => {
    const key = newKey();
    const clock = clockAt(0);
    const lease = owned((await claim(db, [{ key }], { leaseMs, now: clock.now }))[0]);
    await completeStatement(db, [{ ...lease, result: "first" }], clock).run();
    const row = await rowOf(db, key);
    clock.step(1);
    await completeStatement(db, [{ ...lease, result: "second" }], clock).run();
    expect(await complete(db, [{ ...lease, result: "third" }], clock)).toEqual([true]);
    expect(await rowOf(db, key)).toEqual(row);
    expect(row).toMatchObject({ state: "done", result: '"first"', updated_at: 0 });
  });
});
