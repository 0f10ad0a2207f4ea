import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { claim, complete, release } from "../src/index.ts";
import { clockAt, newKey, owned, rowOf } from "./helpers.ts";

const db = env.DB;
const leaseMs = 60_000;

describe("claim", () => {
  it("gives a new key to the caller, and tells everybody else how long to wait", async () => {
    const key = newKey();
    const clock = clockAt(1_000_000);
    expect(await claim(db, [{ key }], { leaseMs, now: clock.now })).toEqual([
      {
        state: "claimed",
        key,
        owner: expect.stringMatching(/^[0-9a-f-]{36}$/),
        record: {
          key,
          state: "in progress",
          fingerprint: undefined,
          tries: 1,
          firstClaimedAt: 1_000_000,
          changedAt: 1_000_000,
          leaseLeftMs: leaseMs,
        },
      },
    ]);
    clock.step(20_000);
    expect(await claim(db, [{ key }], { leaseMs, now: clock.now })).toEqual([
      { state: "in progress", key, retryAfterMs: 40_000 },
    ]);
  });

  it("goes by D1's own clock if it is given none", async () => {
    const key = newKey();
    const before = Date.now();
    await claim(db, [{ key }], { leaseMs });
    const row = await rowOf(db, key);
    expect(row?.created_at).toBeGreaterThanOrEqual(before - 60_000);
    expect(row?.created_at).toBeLessThanOrEqual(Date.now() + 60_000);
    expect(row?.lease_expires_at).toBe((row?.created_at ?? 0) + leaseMs);
    const [second] = await claim(db, [{ key }], { leaseMs });
    expect(second).toMatchObject({ state: "in progress" });
  });

  it("lets a lease of D1's own clock end by itself", async () => {
    const key = newKey();
    await claim(db, [{ key }], { leaseMs: 1 });
    await expect
      .poll(async () => (await claim(db, [{ key }], { leaseMs: 1 }))[0]?.state, {
        interval: 1,
        timeout: 30_000,
      })
      .toBe("claimed");
  });

  it("answers in the order of the question, each key for itself", async () => {
    const [done, busy, fresh, other] = [newKey(), newKey(), newKey(), newKey()];
    const [first] = await claim(db, [{ key: done }, { key: busy }], { leaseMs });
    await complete(db, [{ ...owned(first), result: { mail: 7 } }]);
    await claim(db, [{ key: other, fingerprint: "one" }], { leaseMs });

    const claims = await claim(
      db,
      [{ key: fresh }, { key: done }, { key: other, fingerprint: "two" }, { key: busy }],
      { leaseMs },
    );
    expect(claims).toEqual([
      { state: "claimed", key: fresh, owner: expect.any(String), record: expect.anything() },
      { state: "done", key: done, result: { mail: 7 } },
      {
        state: "conflict",
        key: other,
        record: expect.objectContaining({ state: "in progress", fingerprint: "one", tries: 1 }),
      },
      { state: "in progress", key: busy, retryAfterMs: expect.any(Number) },
    ]);
  });

  it.each([
    ["after", ["two", "one"], ["conflict", "claimed"]],
    ["before", ["one", "two"], ["claimed", "conflict"]],
    ["around", ["two", "one", "one", "two"], ["conflict", "claimed", "in progress", "conflict"]],
  ])(
    "gives an ended lease to the payload that the key stands for, %s another one in the same call",
    async (_where, fingerprints, states) => {
      const key = newKey();
      const clock = clockAt(0);
      await claim(db, [{ key, fingerprint: "one" }], { leaseMs, now: clock.now });
      clock.step(leaseMs);
      const entries = fingerprints.map((fingerprint) => ({ key, fingerprint }));
      const claims = await claim(db, entries, { leaseMs, now: clock.now });
      expect(claims.map(({ state }) => state)).toEqual(states);
      // Whoever was told that it is claimed can complete it: it is in progress by somebody.
      const held = claims.find(({ state }) => state === "claimed");
      expect(await complete(db, [owned(held)], clock)).toEqual([true]);
    },
  );

  it("says so if the keys are more than D1 takes in one parameter, and claims none", async () => {
    const control = (n: number) => `${n}`.padEnd(512, "\u0001");
    const entries = Array.from({ length: 500 }, (_, n) => ({
      key: control(n),
      fingerprint: control(n),
    }));
    await expect(claim(db, entries, { leaseMs })).rejects.toThrow(
      /^500 keys with what belongs to them are 30\d{5} bytes as JSON, at most 1900000 are allowed: take fewer/,
    );
    const [first] = entries;
    expect(await rowOf(db, first?.key ?? "")).toBeNull();
    const most = await claim(db, entries.slice(0, 300), { leaseMs });
    expect(most.every(({ state }) => state === "claimed")).toBe(true);
  });

  it("takes a session of the database", async () => {
    const session = db.withSession("first-primary");
    const key = newKey();
    const [held] = await claim(session, [{ key }], { leaseMs });
    expect(await complete(session, [{ ...owned(held), result: 1 }])).toEqual([true]);
    expect(await claim(session, [{ key }], { leaseMs })).toEqual([
      { state: "done", key, result: 1 },
    ]);
  });

  it("gives a key that is twice in one call to the first of the two", async () => {
    const key = newKey();
    const clock = clockAt(0);
    const claims = await claim(db, [{ key }, { key }], { leaseMs, now: clock.now });
    expect(claims).toMatchObject([
      { state: "claimed" },
      { state: "in progress", retryAfterMs: leaseMs },
    ]);
  });

  it("takes 500 keys in one statement and refuses more", async () => {
    const entries = Array.from({ length: 500 }, () => ({ key: newKey() }));
    const claims = await claim(db, entries, { leaseMs });
    expect(claims.map(({ key }) => key)).toEqual(entries.map(({ key }) => key));
    expect(claims.every(({ state }) => state === "claimed")).toBe(true);
    await expect(claim(db, [...entries, { key: newKey() }], { leaseMs })).rejects.toThrow(
      RangeError,
    );
  });

  it("takes the longest keys that are allowed, 500 of them", async () => {
    const entries = Array.from({ length: 500 }, () => ({
      key: newKey().padEnd(512, "€"),
      fingerprint: "€".repeat(512),
    }));
    const claims = await claim(db, entries, { leaseMs });
    expect(claims.every(({ state }) => state === "claimed")).toBe(true);
  });

  it("asks D1 nothing for no keys", async () => {
    expect(await claim(db, [], { leaseMs })).toEqual([]);
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    "refuses leaseMs %d",
    async (wrong) => {
      await expect(claim(db, [{ key: newKey() }], { leaseMs: wrong })).rejects.toThrow(RangeError);
    },
  );

  it("claims nothing of a call that has one wrong key", async () => {
    const key = newKey();
    await expect(claim(db, [{ key }, { key: "" }], { leaseMs })).rejects.toThrow(TypeError);
    expect(await rowOf(db, key)).toBeNull();
  });

  it.each([
    ["case", "A", "a"],
    ["Unicode form", "\u00e4", "a\u0308"],
    ["space at the end", "a", "a "],
    ["a quote", "'", '"'],
    ["what follows a NUL", "a\0b", "a\0c"],
    ["a control character", "\u0001", "\u0002"],
    ["digits that are one number", "1", "01"],
    ["what a JSON path means by it", "$.key", "key"],
  ])("tells keys apart by %s", async (_by, one, other) => {
    const prefix = newKey();
    const claims = await claim(db, [{ key: prefix + one }, { key: prefix + other }], { leaseMs });
    expect(claims).toMatchObject([{ state: "claimed" }, { state: "claimed" }]);
    expect((await rowOf(db, prefix + one))?.key).toBe(prefix + one);
  });
});

describe("claimers at the same time", () => {
  it("one gets each key, whoever asks", async () => {
    const keys = Array.from({ length: 50 }, () => newKey());
    const claimers = await Promise.all(
      Array.from({ length: 20 }, (_, turn) =>
        claim(
          db,
          [...keys.slice(turn), ...keys.slice(0, turn)].map((key) => ({ key })),
          { leaseMs },
        ),
      ),
    );
    const winners = claimers.flat().filter(({ state }) => state === "claimed");
    expect(winners.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
  });

  it("one takes over each lease that has ended", async () => {
    const keys = Array.from({ length: 20 }, () => newKey());
    const entries = keys.map((key) => ({ key }));
    const clock = clockAt(0);
    await claim(db, entries, { leaseMs, now: clock.now });
    clock.step(leaseMs);
    const claimers = await Promise.all(
      Array.from({ length: 20 }, () => claim(db, entries, { leaseMs, now: clock.now })),
    );
    const winners = claimers.flat().filter(({ state }) => state === "claimed");
    expect(winners.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
  });
});

describe("a lease", () => {
  it("ends at its millisecond, not before", async () => {
    const key = newKey();
    const clock = clockAt(500);
    await claim(db, [{ key }], { leaseMs, now: clock.now });
    clock.step(leaseMs - 1);
    expect(await claim(db, [{ key }], { leaseMs, now: clock.now })).toMatchObject([
      { state: "in progress", retryAfterMs: 1 },
    ]);
    clock.step(1);
    expect(await claim(db, [{ key }], { leaseMs: 5, now: clock.now })).toMatchObject([
      { state: "claimed" },
    ]);
    clock.step(5);
    expect(await claim(db, [{ key }], { leaseMs: 5, now: clock.now })).toMatchObject([
      { state: "claimed" },
    ]);
  });

  it("is as long as its own claim said, whatever the one before it was", async () => {
    const key = newKey();
    const clock = clockAt(0);
    await claim(db, [{ key }], { leaseMs: 5, now: clock.now });
    clock.step(5);
    await claim(db, [{ key }], { leaseMs, now: clock.now });
    const inProgress = [{ state: "in progress", key, retryAfterMs: leaseMs }];
    expect(await claim(db, [{ key }], { leaseMs, now: clock.now })).toEqual(inProgress);
    expect(await claim(db, [{ key }], { leaseMs, now: clock.now })).toEqual(inProgress);
  });

  it("that has ended leaves its late owner with nothing to complete or release", async () => {
    const key = newKey();
    const clock = clockAt(0);
    const [late] = await claim(db, [{ key }], { leaseMs, now: clock.now });
    clock.step(leaseMs);
    const [current] = await claim(db, [{ key }], { leaseMs, now: clock.now });

    expect(await release(db, [owned(late)])).toEqual([false]);
    expect(await complete(db, [{ ...owned(late), result: "late" }], clock)).toEqual([false]);
    expect(await claim(db, [{ key }], { leaseMs, now: clock.now })).toMatchObject([
      { state: "in progress" },
    ]);
    expect(await complete(db, [{ ...owned(current), result: "current" }], clock)).toEqual([true]);
    expect(await complete(db, [{ ...owned(late), result: "late" }], clock)).toEqual([false]);
    expect(await claim(db, [{ key }], { leaseMs, now: clock.now })).toEqual([
      { state: "done", key, result: "current" },
    ]);
  });

  it("that has ended is still completed if nobody else has claimed it", async () => {
    const key = newKey();
    const clock = clockAt(0);
    const [late] = await claim(db, [{ key }], { leaseMs, now: clock.now });
    clock.step(10 * leaseMs);
    expect(await complete(db, [owned(late)], clock)).toEqual([true]);
  });
});

describe("a clock that is set", () => {
  it("back does not let a second owner in while the first is at work", async () => {
    const key = newKey();
    const clock = clockAt(1_000_000_000);
    await claim(db, [{ key }], { leaseMs, now: clock.now });
    clock.step(-3_600_000);
    expect(await claim(db, [{ key }], { leaseMs, now: clock.now })).toEqual([
      { state: "in progress", key, retryAfterMs: leaseMs },
    ]);
  });

  it("back blocks a key for no longer than its lease from the next claim", async () => {
    const key = newKey();
    const clock = clockAt(1_000_000_000);
    await claim(db, [{ key }], { leaseMs, now: clock.now });
    clock.step(-3_600_000);
    await claim(db, [{ key }], { leaseMs: 5, now: clock.now });
    clock.step(leaseMs - 1);
    expect(await claim(db, [{ key }], { leaseMs: 5, now: clock.now })).toMatchObject([
      { state: "in progress", retryAfterMs: 1 },
    ]);
    clock.step(1);
    expect(await claim(db, [{ key }], { leaseMs, now: clock.now })).toMatchObject([
      { state: "claimed" },
    ]);
  });

  it("back leaves what is done as it is", async () => {
    const key = newKey();
    const clock = clockAt(1_000_000_000);
    const [held] = await claim(db, [{ key }], { leaseMs, now: clock.now });
    await complete(db, [owned(held)], clock);
    clock.step(-3_600_000);
    expect(await claim(db, [{ key }], { leaseMs, now: clock.now })).toMatchObject([
      { state: "done" },
    ]);
  });

  it("forward ends leases early: the first owner then finds its lease lost", async () => {
    const key = newKey();
    const clock = clockAt(0);
    const [first] = await claim(db, [{ key }], { leaseMs, now: clock.now });
    clock.step(3_600_000);
    expect(await claim(db, [{ key }], { leaseMs, now: clock.now })).toMatchObject([
      { state: "claimed" },
    ]);
    expect(await complete(db, [owned(first)], clock)).toEqual([false]);
  });
});

describe("a fingerprint", () => {
  it("refuses another payload in every state of the key, and leaves it as it was", async () => {
    const key = newKey();
    const clock = clockAt(0);
    const ask = (fingerprint?: string) =>
      claim(db, [{ key, fingerprint }], { leaseMs, now: clock.now });
    const conflict = [{ state: "conflict", key, record: expect.objectContaining({ key }) }];

    const [held] = await ask("one");
    expect(await ask("two")).toEqual(conflict);
    clock.step(leaseMs);
    const ended = await rowOf(db, key);
    expect(await ask("two")).toEqual(conflict);
    expect(await rowOf(db, key)).toEqual(ended);
    await release(db, [owned(held)]);
    expect(await ask("two")).toEqual(conflict);
    const [again] = await ask("one");
    await complete(db, [owned(again)], clock);
    expect(await ask("two")).toEqual(conflict);
    expect(await ask("one")).toMatchObject([{ state: "done" }]);
  });

  it("is refused by a key that was used without one, in every state: nobody knows for what", async () => {
    const key = newKey();
    const clock = clockAt(0);
    const ask = (fingerprint?: string) =>
      claim(db, [{ key, fingerprint }], { leaseMs, now: clock.now });
    const conflict = [{ state: "conflict", key, record: expect.objectContaining({ key }) }];
    await ask();
    expect(await ask("one")).toEqual(conflict);
    clock.step(leaseMs);
    expect(await ask("one")).toEqual(conflict);
    const [held] = await ask();
    await complete(db, [{ ...owned(held), result: "somebody's" }], clock);
    expect(await ask("one")).toEqual(conflict);
  });

  it("is not compared where the claim has none, and stays", async () => {
    const key = newKey();
    const clock = clockAt(0);
    const ask = (fingerprint?: string) =>
      claim(db, [{ key, fingerprint }], { leaseMs, now: clock.now });
    await ask("one");
    clock.step(leaseMs);
    expect(await ask()).toMatchObject([{ state: "claimed" }]);
    expect(await ask("two")).toMatchObject([{ state: "conflict" }]);
    expect((await rowOf(db, key))?.fingerprint).toBe("one");
  });
});
