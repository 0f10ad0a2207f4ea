import { nowMs, type ClockOptions, type Database } from "./lease.ts";

const SWEEP = `
  DELETE FROM idempotency_keys WHERE rowid IN (
    SELECT rowid FROM idempotency_keys
    WHERE updated_at <= ${nowMs("?3")} - ?1
      AND (state = 'done' OR lease_expires_at <= ${nowMs("?3")})
    ORDER BY rowid
    LIMIT ?2
  )`;

/**
 * Deletes keys that nothing has happened to for longer than the retention: the done ones, and those whose lease has
 * ended. Returns how many; call it again while it returns `limit`.
 *
 * The oldest rows go first. The last call reads the whole table.
 *
 * A key that is swept can be claimed again. Keep keys for longer than a duplicate can take: a message lives for up to 14
 * days in a queue and again in its dead letter queue (Cloudflare docs, "Queues: Limits"), and a redrive comes later still.
 *
 * @param options `olderThanMs`: the retention, in milliseconds; `limit`: most rows in one statement, default 1,000
 * @throws RangeError if `olderThanMs` or `limit` makes no sense
 */
export async function sweep(
  db: Database,
  options: ClockOptions & { olderThanMs: number; limit?: number },
): Promise<number> {
  const { olderThanMs, limit = 1000, now } = options;
  if (!(Number.isSafeInteger(olderThanMs) && olderThanMs >= 0)) {
    throw new RangeError(`olderThanMs must be a whole number from 0, not ${olderThanMs}`);
  }
  if (!(Number.isSafeInteger(limit) && limit >= 1)) {
    throw new RangeError(`limit must be a whole number from 1, not ${limit}`);
  }
  const { meta } = await db
    .prepare(SWEEP)
    .bind(olderThanMs, limit, now?.() ?? null)
    .run();
  return meta.changes;
}
