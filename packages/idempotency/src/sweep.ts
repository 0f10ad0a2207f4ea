import { checkWhole } from "./check.ts";
import { nowMs, tableOf, type Database, type StoreOptions } from "./lease.ts";

const CHUNK = 1000;

// By the index on delete_at: it reads what it deletes, and no more than that of a table of any size.
const sweepSql = (table: string) => `
  DELETE FROM ${table} WHERE rowid IN (
    SELECT rowid FROM ${table}
    WHERE delete_at <= ${nowMs("?2")} AND (state = 'done' OR lease_expires_at <= ${nowMs("?2")})
    ORDER BY delete_at
    LIMIT ?1
  )`;

/**
 * Deletes keys whose retention is over, those first that have been due for longest: the done ones, and those that nobody
 * holds. Reads no more rows than it deletes, but for keys that are held for longer than they were to be kept.
 *
 * A key that is swept can be claimed again. Keep keys for longer than a duplicate can take: a message lives for up to 14
 * days in a queue and again in its dead letter queue (Cloudflare docs, "Queues: Limits"), and a redrive comes later still.
 *
 * @param options `maxRows`: most rows in this call, default 10,000; `maxMs`: begins no statement (of up to 1,000 rows)
 *   after so many milliseconds, default 10,000
 * @returns how many are gone, and whether there may be more
 * @throws RangeError if `maxRows` or `maxMs` makes no sense
 */
export async function sweep(
  db: Database,
  options: StoreOptions & { maxRows?: number; maxMs?: number } = {},
): Promise<{ deleted: number; more: boolean }> {
  const { maxRows = 10_000, maxMs = 10_000, now } = options;
  checkWhole("maxRows", maxRows);
  checkWhole("maxMs", maxMs, 0);
  const sql = sweepSql(tableOf(options));
  const start = performance.now();
  let deleted = 0;
  do {
    const limit = Math.min(CHUNK, maxRows - deleted);
    const { meta } = await db
      .prepare(sql)
      .bind(limit, now?.() ?? null)
      .run();
    deleted += meta.changes;
    if (meta.changes < limit) return { deleted, more: false };
  } while (deleted < maxRows && performance.now() - start < maxMs);
  return { deleted, more: true };
}
