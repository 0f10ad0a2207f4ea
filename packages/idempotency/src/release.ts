import { parameterOf } from "./result.ts";
import { checkCount, isAmong, twice, type Lease, type Database } from "./lease.ts";

const RELEASE = `
  UPDATE idempotency_keys SET owner = NULL, lease_expires_at = 0
  FROM (SELECT value ->> '$.key' AS key, value ->> '$.owner' AS owner FROM json_each(?1)) AS given
  WHERE idempotency_keys.key = given.key
    AND idempotency_keys.owner = given.owner
    AND idempotency_keys.state = 'processing'
  RETURNING key`;

/**
 * Gives many keys back in one statement, when their work failed: the next claim may have them at once. The answer says
 * for each entry, in the same order, whether the key was still this owner's.
 *
 * The fingerprint stays: an effect that failed may have happened all the same, so the key still stands for that payload.
 * Safe to repeat.
 *
 * @param entries at most 500
 * @throws what D1 throws, after a second try. The leases then end by themselves
 */
export async function release(db: Database, entries: readonly Lease[]): Promise<boolean[]> {
  checkCount(entries.length);
  if (entries.length === 0) return [];
  const parameter = parameterOf(entries.map(({ key, owner }) => ({ key, owner })));
  const { results } = await twice(() => db.prepare(RELEASE).bind(parameter).all<{ key: string }>());
  return isAmong(entries, results);
}
