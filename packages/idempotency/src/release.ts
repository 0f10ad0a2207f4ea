import { tableOf, type Database, type Lease, type StoreOptions } from "./lease.ts";
import { change, given } from "./statement.ts";

const releaseSql = (table: string) => `
UPDATE ${table} AS held SET
owner = NULL, lease_expires_at = 0, tries = held.tries - COALESCE(given.nothingHappened, 0)
FROM ${given("key", "owner", "nothingHappened")}
WHERE held.key = given.key AND held.owner = given.owner AND held.state = 'processing'
RETURNING key`;

export interface Release extends Lease {
  /**
   * Whether the owner knows that its work had no effect: it never began, or was refused at the door. The claim is then as
   * if it had never been made.
   */
  nothingHappened?: boolean;
}

/**
 * Gives many keys back in one statement, when their work failed: the next claim may have them at once. The answer says
 * for each entry, in the same order, whether the key was still this owner's.
 *
 * The fingerprint stays: an effect that failed may have happened all the same, so the key still stands for that payload.
 * Unless nothing has happened under the key. Safe to repeat.
 *
 * @param entries at most 500
 * @throws what D1 throws, after a second try. The leases then end by themselves
 */
export async function release(
  db: Database,
  entries: readonly Release[],
  options: StoreOptions = {},
): Promise<boolean[]> {
  return change(db, releaseSql(tableOf(options)), entries);
}
