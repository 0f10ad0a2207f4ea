import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import { claim, complete, DEFAULT_RETENTION_MS, renew, sweep } from "../src/index.ts";
import { clockAt, newKey, owned, rowOf } from "./helpers.ts";

const db = env.DB;
const leaseMs = 60_000;
const retentionMs = 1_000_000;

beforeEach(() => db.prepare("DELETE FROM idempotency_keys").run());

it("deletes what is done or given up for longer than its retention, and nothing else", async () => {
  const clock = clockAt(0);
  const [done, givenUp, kept, later] = [newKey(), newKey(), newKey(), newKey()];
  const options = { leaseMs, retentionMs, now: clock.now };
  const [first] = await claim(db, [{ key: done }, { key: givenUp }], options);
  await claim(db, [{ key: kept }], { leaseMs, now: clock.now });
  await complete(db, [owned(first)], clock);
  clock.step(1);
  await claim(db, [{ key: later }], options);

  clock.step(retentionMs - 2);
  expect(await sweep(db, clock)).toEqual({ deleted: 0, more: false });
  clock.step(1);
  expect(await sweep(db, clock)).toEqual({ deleted: 2, more: false });
  const rows = await Promise.all([done, givenUp, kept, later].map((key) => rowOf(db, key)));
  expect(rows.map((row) => row?.key)).toEqual([undefined, undefined, kept, later]);
  clock.step(DEFAULT_RETENTION_MS);
  expect(await sweep(db, clock)).toEqual({ deleted: 2, more: false });
});

it("keeps each key for as long as its own last claim said, whatever duplicates come later", async () => {
  const clock = clockAt(0);
  const key = newKey();
  await claim(db, [{ key }], { leaseMs, retentionMs: leaseMs, now: clock.now });
  clock.step(leaseMs);
  const [held] = await claim(db, [{ key }], { leaseMs, retentionMs, now: clock.now });
  await complete(db, [owned(held)], clock);
  clock.step(retentionMs - 1);
  await claim(db, [{ key }], { leaseMs, retentionMs, now: clock.now });
  expect(await sweep(db, clock)).toEqual({ deleted: 0, more: false });
  clock.step(1);
  expect(await sweep(db, clock)).toEqual({ deleted: 1, more: false });
});

it("counts the retention from the last renewal, and leaves what somebody holds", async () => {
  const clock = clockAt(0);
  const [renewed, held] = [newKey(), newKey()];
  const options = { leaseMs, retentionMs: leaseMs, now: clock.now };
  const [one, other] = await claim(db, [{ key: renewed }, { key: held }], options);
  clock.step(leaseMs - 1);
  await renew(db, [owned(one)], { leaseMs, now: clock.now });
  // Held for longer than it was to be kept.
  await renew(db, [owned(other)], { leaseMs: 3 * leaseMs, now: clock.now });
  clock.step(leaseMs);
  expect(await sweep(db, clock)).toEqual({ deleted: 1, more: false });
  expect(await rowOf(db, renewed)).toBeNull();
  clock.step(2 * leaseMs);
  expect(await sweep(db, clock)).toEqual({ deleted: 1, more: false });
});

it("takes those first that have been due for longest, and no more than it may", async () => {
  const clock = clockAt(0);
  const keys = [newKey(), newKey(), newKey()];
  const options = { leaseMs, retentionMs, now: clock.now };
  for (const key of keys) {
    await claim(db, [{ key }], options);
    clock.step(1);
  }
  clock.step(10 * retentionMs);
  expect(await sweep(db, { ...clock, maxRows: 2 })).toEqual({ deleted: 2, more: true });
  const rows = await Promise.all(keys.map((key) => rowOf(db, key)));
  expect(rows.map((row) => row?.key)).toEqual([undefined, undefined, keys[2]]);
  expect(await sweep(db, { ...clock, maxRows: 2 })).toEqual({ deleted: 1, more: false });
});

it("reads what it deletes and nothing of a table that is large, in statements of 1,000", async () => {
  const clock = clockAt(0);
  const options = { leaseMs, now: clock.now };
  const batch = () => Array.from({ length: 500 }, () => ({ key: newKey() }));
  for (let n = 0; n < 8; n++) await claim(db, batch(), options);
  for (let n = 0; n < 3; n++) await claim(db, batch(), { ...options, retentionMs });
  clock.step(retentionMs);

  const read: number[] = [];
  const counting = {
    prepare: (sql: string) => {
      const bind = (...values: unknown[]) => ({
        run: async () => {
          const result = await db
            .prepare(sql)
            .bind(...values)
            .run();
          read.push(result.meta.rows_read);
          return result;
        },
      });
      return { bind } as unknown as D1PreparedStatement;
    },
  };
  expect(await sweep(counting, { ...clock, maxMs: 0 })).toEqual({ deleted: 1000, more: true });
  expect(await sweep(counting, clock)).toEqual({ deleted: 500, more: false });
  expect(read).toHaveLength(2);
  // Four for each that goes: found and deleted, in the table and in its indexes. 5,500 are there.
  expect(read[0]).toBeLessThanOrEqual(4 * 1000 + 1);
  expect(read[1]).toBeLessThanOrEqual(4 * 500 + 1);
});

it("goes by D1's own clock if it is given none", async () => {
  const [key, other] = [newKey(), newKey()];
  const [held] = await claim(db, [{ key }], { leaseMs: 1, retentionMs: 1 });
  await claim(db, [{ key: other }], { leaseMs });
  await complete(db, [owned(held)]);
  await expect.poll(() => sweep(db), { timeout: 30_000 }).toEqual({ deleted: 1, more: false });
  expect(await rowOf(db, other)).not.toBeNull();
});

it.each([{ maxRows: 0 }, { maxRows: Number.NaN }, { maxMs: -1 }])("refuses %o", async (options) => {
  await expect(sweep(db, options)).rejects.toThrow(RangeError);
});

it.each([0, leaseMs - 1, 0.5, Number.NaN])("a claim refuses a retention of %d", async (wrong) => {
  await expect(claim(db, [{ key: newKey() }], { leaseMs, retentionMs: wrong })).rejects.toThrow(
    /^retentionMs must be/,
  );
});
