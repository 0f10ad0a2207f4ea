/** Files of which D1 holds the rows of another version than the one that this run has read. */
const STALE =
  "SELECT file FROM files WHERE day = ?1 AND state = 'transformed' AND loaded_etag <> etag";

/**
 * Takes the rows of files back that were replaced since an earlier run of the day, all of them before any new row is
 * loaded: a sale may have moved from one file to another. What was a duplicate then may be none now.
 */
export async function clearStale(db: D1Database, day: string): Promise<number> {
  const { results } = await db.prepare(STALE).bind(day).all();
  if (results.length === 0) return 0;
  const statements = [
    `DELETE FROM sales WHERE day = ?1 AND file IN (${STALE})`,
    `DELETE FROM rejects WHERE day = ?1 AND (is_duplicate OR file IN (${STALE}))`,
    `UPDATE files SET loaded_etag = NULL WHERE day = ?1 AND file IN (${STALE})`,
  ];
  await db.batch(statements.map((sql) => db.prepare(sql).bind(day)));
  return results.length;
}
