import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import { claim, complete, sweep } from "../src/index.ts";
import { clockAt, newKey, owned, rowOf } from "./helpers.ts";

const db = env.DB;
const leaseMs = 60_000;
const olderThanMs = 1_000_000;

beforeEach(() => db.prepare("DELETE FROM idempotency_keys").run());

it("deletes what is done or given up for longer than the retention, and nothing else", async () => {
  const clock = clockAt(0);
  const [done, givenUp, alive, later] = [newKey(), newKey(), newKey(), newKey()];
  const [first] = await claim(db, [{ key: done }, { key: givenUp }], { leaseMs, now: clock.now });
  await claim(db, [{ key: alive }], { leaseMs: 2 * olderThanMs, now: clock.now });
  await complete(db, [owned(first)], clock);
  clock.step(1);
  await claim(db, [{ key: later }], { leaseMs, now: clock.now });

  clock.step(olderThanMs - 2);
  expect(await sweep(db, { olderThanMs, now: clock.now })).toBe(0);
  clock.step(1);
  expect(await sweep(db, { olderThanMs, now: clock.now })).toBe(2);
  const rows = await Promise.all([done, givenUp, alive, later].map((key) => rowOf(db, key)));
  expect(rows.map((row) => row?.key)).toEqual([undefined, undefined, alive, later]);
});

it("counts the retention from the completion, whatever duplicates come later", async () => {
  const clock = clockAt(0);
  const key = newKey();
  const [held] = await claim(db, [{ key }], { leaseMs, now: clock.now });
  clock.step(1000);
  await complete(db, [owned(held)], clock);
  clock.step(olderThanMs - 1);
  await claim(db, [{ key }], { leaseMs, now: clock.now });
  expect(await sweep(db, { olderThanMs, now: clock.now })).toBe(0);
  clock.step(1);
  expect(await sweep(db, { olderThanMs, now: clock.now })).toBe(1);
});

it("takes the oldest first, so many at a time", async () => {
  const clock = clockAt(0);
  const keys = [newKey(), newKey(), newKey()];
  for (const key of keys) {
    await claim(db, [{ key }], { leaseMs, now: clock.now });
    clock.step(1);
  }
  clock.step(10 * olderThanMs);
  expect(await sweep(db, { olderThanMs, limit: 2, now: clock.now })).toBe(2);
  const rows = await Promise.all(keys.map((key) => rowOf(db, key)));
  expect(rows.map((row) => row?.key)).toEqual([undefined, undefined, keys[2]]);
  expect(await sweep(db, { olderThanMs, limit: 2, now: clock.now })).toBe(1);
});

it("goes by D1's own clock if it is given none", async () => {
  const key = newKey();
  const [held] = await claim(db, [{ key }], { leaseMs });
  await complete(db, [owned(held)]);
  expect(await sweep(db, { olderThanMs: 3_600_000 })).toBe(0);
  expect(await sweep(db, { olderThanMs: 0 })).toBe(1);
});

it.each([
  { olderThanMs: -1 },
  { olderThanMs: Number.NaN },
  { olderThanMs: 0.5 },
  { olderThanMs: 1, limit: 0 },
  { olderThanMs: 1, limit: Number.NaN },
])("refuses %o", async (options) => {
  await expect(sweep(db, options)).rejects.toThrow(RangeError);
});
