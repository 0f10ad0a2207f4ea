import { nowMs, tableOf, type Database, type Lease, type StoreOptions } from "./lease.ts";
import { change, encode, given, parameterOf, unlessDone, type Entry } from "./statement.ts";

export interface Completion extends Lease {
  /** Anything JSON can hold. */
  result?: unknown;
}

const completeSql = (table: string) => `
UPDATE ${table} AS held SET
state = 'done',
${unlessDone("result", "given.result")},
${unlessDone("updated_at", nowMs("?2"))}
FROM ${given("key", "owner", "result")}
WHERE held.key = given.key AND held.owner = given.owner
RETURNING key`;

const completeOrFailSql = (table: string) => `
INSERT INTO ${table} AS target
(key, state, owner, lease_ms, lease_expires_at, result, created_at, updated_at)
SELECT
given.key, iif(held.owner = given.owner, 'done', 'lease lost'),
held.owner, 0, 0, given.result, ${nowMs("?2")}, ${nowMs("?2")}
FROM ${given("key", "owner", "result")}
LEFT JOIN ${table} AS held ON held.key = given.key
WHERE true
ON CONFLICT (key) DO UPDATE SET
state = excluded.state,
result = iif(target.state = 'done', target.result, excluded.result),
updated_at = iif(target.state = 'done', target.updated_at, excluded.updated_at)`;

/**
 * Marks many keys as done in one statement, and stores their results. The answer says for each entry, in the same order,
 * whether the key is done by this owner.
 *
 * `false` means that the lease had ended and another caller has claimed the key since (or that the row was swept): the
 * effect may run twice. An ended lease that nobody has claimed is completed all the same.
 *
 * Safe to repeat: a second completion by the same owner changes nothing and says `true`. A key that is done stays done,
 * with its first result, until it is swept.
 *
 * @param entries at most 500; `result`: anything JSON can hold, at most about 1.9 MB for all together; keep more in R2
 * @throws TypeError or RangeError for results that cannot be stored; nothing is completed
 * @throws what D1 throws, after a second try. The keys may be done or not: repeat it
 */
export async function complete(
  db: Database,
  entries: readonly Completion[],
  options: StoreOptions = {},
): Promise<boolean[]> {
  return change(db, completeSql(tableOf(options)), stored(entries), options.now?.() ?? null);
}

/**
 * The same as a prepared statement, to put into the `db.batch()` that writes the rows the work makes.
 *
 * Guaranteed: the batch is one transaction, and this statement fails it if another caller holds one of the keys: then
 * nothing of the batch is written, and `isLeaseLost(error)` is true. So an effect that consists of rows in this database
 * happens exactly once, however often the work runs.
 *
 * @throws as `complete` for results that cannot be stored
 */
export function completeStatement(
  db: Database,
  entries: readonly Completion[],
  options: StoreOptions = {},
): D1PreparedStatement {
  return db
    .prepare(completeOrFailSql(tableOf(options)))
    .bind(parameterOf(stored(entries)), options.now?.() ?? null);
}

function stored(entries: readonly Completion[]): Entry[] {
  return entries.map(({ key, owner, result }) => ({ key, owner, result: encode(result) }));
}
