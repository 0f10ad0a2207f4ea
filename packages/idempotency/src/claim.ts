import { checkWhole } from "./check.ts";
import { checkKey, checkText } from "./key.ts";
import { nowMs, tableOf, type Database, type StoreOptions } from "./lease.ts";
import { columns, toRecord, type KeyRecord, type Row } from "./record.ts";
import { decode, given, write } from "./statement.ts";

/** How long a key is kept, unless a claim says otherwise: 90 days, in milliseconds. */
export const DEFAULT_RETENTION_MS = 90 * 24 * 60 * 60 * 1000;

export interface KeyToClaim {
  key: string;
  /** What the work is about, see `fingerprintOf`. Not compared where this claim has none. */
  fingerprint?: string | undefined;
}

/** What is said of a key when it is claimed, beside the key itself. */
export interface KeepOptions extends StoreOptions {
  /**
   * How long to keep the key from its last claim or renewal on, in milliseconds, at least as long as a lease: `sweep`
   * deletes it then. Longer than any duplicate can take. Default {@link DEFAULT_RETENTION_MS}.
   */
  retentionMs?: number | undefined;
  /**
   * How long the provider of the effect remembers a key, in milliseconds: Stripe at least 24 hours, others minutes. Work
   * that was begun so long ago and never finished is then `in doubt`: refused, for a person to decide, since the provider
   * would do it a second time. 0 for one that knows no keys: nothing is ever repeated. Default: it remembers forever.
   */
  providerRemembersMs?: number | undefined;
}

export interface ClaimOptions extends KeepOptions {
  /** How long the work may take until it is done or the lease renewed, in milliseconds. */
  leaseMs: number;
}

export type Claim =
  /** Yours: do the work, then `complete` or `release`. The record counts this claim in. */
  | { state: "claimed"; key: string; owner: string; record: KeyRecord }
  /** The work is done. `result` is what was stored with it. */
  | { state: "done"; key: string; result: unknown }
  /** Another caller is at it, for `retryAfterMs` (at least 1) more milliseconds unless it renews its lease. */
  | { state: "in progress"; key: string; retryAfterMs: number }
  /** The key was used for another fingerprint, or without one. */
  | { state: "conflict"; key: string; record: KeyRecord }
  /** Begun and never finished, longer ago than `providerRemembersMs`: it may have happened. A person decides. */
  | { state: "in doubt"; key: string; record: KeyRecord };

// Whether the row on the table may be taken: its lease has ended; and, unless nothing can have happened under it, it is
// about the same payload, as far as one asks, and the provider will know it for as long as this lease lasts.
const FREE = `held.state = 'processing' AND held.lease_expires_at <= excluded.updated_at AND (held.tries = 0 OR (
(excluded.fingerprint IS NULL OR held.fingerprint IS excluded.fingerprint)
AND (?5 IS NULL OR excluded.lease_expires_at - held.created_at <= ?5)))`;

const taken = (column: string, otherwise = `held.${column}`, and = "") =>
  `${column} = iif(${FREE}${and}, excluded.${column}, ${otherwise})`;

// No lease has more left than it was given. If it seems to, the clock went back: it runs anew from here, so that the key is
// not blocked for as long as the clock was set back.
const NO_LONGER = "min(held.lease_expires_at, excluded.updated_at + held.lease_ms)";

// An upsert without WHERE gives back every row, the untouched ones too: one statement says who has what.
const claimSql = (table: string) => `
INSERT INTO ${table} AS held
(key, state, owner, lease_ms, lease_expires_at, fingerprint, created_at, updated_at, tries, delete_at)
SELECT key, 'processing', ?2, ?3, now + ?3, fingerprint, now, now, 1, now + ?6
FROM ${given("key", "fingerprint")}, (SELECT ${nowMs("?4")} AS now)
WHERE true
ON CONFLICT (key) DO UPDATE SET
${["owner", "lease_ms", "updated_at", "delete_at"].map((column) => taken(column)).join()},
${taken("lease_expires_at", NO_LONGER)},
${["fingerprint", "created_at"].map((column) => taken(column, undefined, " AND held.tries = 0")).join()},
tries = held.tries + (${FREE})
RETURNING ${columns(nowMs("?4"))}`;

/**
 * Claims many keys in one statement. The answer has one claim for each entry, in the same order.
 *
 * Guaranteed: of all callers at any time at most one is told `claimed` for a key while its lease is alive, by D1's clock,
 * and none once it is done. A lease that has ended may be claimed again, with a new owner token, and the earlier owner
 * can then neither complete nor release the key. A key that is twice in one call is claimed by the first of the two, and
 * in progress for the second. Of two with different fingerprints only the one that the key stands
 * for can have it: the other is a conflict, whichever stands first. If D1's clock is set back, a lease lasts longer, by at most its own length from the next
 * claim of its key.
 *
 * Not guaranteed: that an effect outside of D1 happens once. If the owner dies after the effect and before `complete`,
 * the lease ends and the effect runs again. Give the provider the same idempotency key: it closes that window. And if
 * D1's clock is set forward, leases end early.
 *
 * With `providerRemembersMs`, nobody gets a key whose work may have happened so long ago that the provider would not know it
 * any more before this lease ends. D1's clock measures that, too: set back, it gives more time than there is.
 *
 * @param entries at most 500
 * @throws TypeError for a key that D1 cannot keep or that has a part missing, RangeError for too many keys, keys that are
 *   more bytes than D1 takes in one parameter, or an option that makes no sense; nothing is
 *   claimed
 * @throws what D1 throws, after a second try. Keys may then be claimed and stay so until the lease ends
 */
export async function claim(
  db: Database,
  entries: readonly KeyToClaim[],
  options: ClaimOptions,
): Promise<Claim[]> {
  const { leaseMs, now } = options;
  checkWhole("leaseMs", leaseMs);
  const { table, retentionMs, providerRemembersMs } = checkedKeep(options, leaseMs);
  for (const { key, fingerprint } of entries) {
    checkKey(key);
    if (fingerprint !== undefined) checkText(fingerprint, "fingerprint");
  }

  const owner = crypto.randomUUID();
  const bound = [owner, leaseMs, now?.() ?? null, providerRemembersMs ?? null, retentionMs];
  // The token makes a repetition safe: what the first try claimed is this caller's own.
  const results = await write<Row>(db, claimSql(table), entries, ...bound);

  const rows = new Map(results.map((row) => [row.key, row]));
  const had = new Set<string>();
  return entries.map((entry) => {
    const row = rows.get(entry.key);
    if (row === undefined) throw new Error(`D1 returned no row for "${entry.key}"`);
    const answer = toClaim(row, entry, had.has(entry.key) ? undefined : owner);
    if (answer.state === "claimed") had.add(entry.key);
    return answer;
  });
}

/**
 * The options with their defaults, the table as SQL has it.
 *
 * @throws RangeError or TypeError naming the option that makes no sense
 */
export function checkedKeep(options: KeepOptions, leaseMs: number) {
  const { providerRemembersMs, retentionMs = Math.max(DEFAULT_RETENTION_MS, leaseMs) } = options;
  checkWhole("retentionMs", retentionMs, leaseMs);
  if (providerRemembersMs !== undefined) checkWhole("providerRemembersMs", providerRemembersMs, 0);
  return { table: tableOf(options), retentionMs, providerRemembersMs };
}

function toClaim(row: Row, { key, fingerprint }: KeyToClaim, owner?: string): Claim {
  if (fingerprint !== undefined && row.fingerprint !== fingerprint) {
    return { state: "conflict", key, record: toRecord(row) };
  }
  if (row.state === "done") return { state: "done", key, result: decode(row.result) };
  if (row.owner === owner) return { state: "claimed", key, owner, record: toRecord(row) };
  if (row.left_ms > 0) return { state: "in progress", key, retryAfterMs: row.left_ms };
  return { state: "in doubt", key, record: toRecord(row) };
}
