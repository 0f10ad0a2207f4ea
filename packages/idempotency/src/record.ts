import { checkText } from "./key.ts";
import { nowMs, tableOf, type Database, type StoreOptions } from "./lease.ts";
import { change, decode } from "./statement.ts";

/** What is known of a key, for a person. Without the result of its work, which may be another caller's. */
export interface KeyRecord {
  key: string;
  /**
   * - `done`: for good
   * - `in progress`: somebody holds it, for `leaseLeftMs` more unless renewed
   * - `unfinished`: its work failed, or its owner died. The next claim may have it
   */
  state: "done" | "in progress" | "unfinished";
  fingerprint: string | undefined;
  /** How many claims may have had an effect. */
  tries: number;
  /** When the first of them was made, in milliseconds since 1970 by D1's clock. */
  firstClaimedAt: number;
  /** When it was claimed, renewed or done last. */
  changedAt: number;
  /** Milliseconds that the lease has left, 0 if nobody holds it. */
  leaseLeftMs: number;
}

export interface Row {
  key: string;
  state: "processing" | "done";
  owner: string | null;
  fingerprint: string | null;
  result: string | null;
  tries: number;
  created_at: number;
  updated_at: number;
  left_ms: number;
}

/** The columns of a {@link Row}. */
export function columns(now: string): string {
  return `key, state, owner, fingerprint, result, tries, created_at, updated_at, lease_expires_at - ${now} AS left_ms`;
}

export function toRecord(row: Row): KeyRecord {
  const held = row.state === "processing" && row.left_ms > 0;
  return {
    key: row.key,
    state: row.state === "done" ? "done" : held ? "in progress" : "unfinished",
    fingerprint: row.fingerprint ?? undefined,
    tries: row.tries,
    firstClaimedAt: row.created_at,
    changedAt: row.updated_at,
    leaseLeftMs: held ? row.left_ms : 0,
  };
}

/**
 * Looks a key up, for an operator. Changes nothing.
 *
 * @returns what is known of it, with its result if it is done; or null if it was never claimed, forgotten or swept
 * @throws TypeError for a key that D1 cannot keep
 */
export async function get(
  db: Database,
  key: string,
  options: StoreOptions = {},
): Promise<(KeyRecord & { result: unknown }) | null> {
  const row = await db
    .prepare(`SELECT ${columns(nowMs("?2"))} FROM ${tableOf(options)} WHERE key = ?1`)
    .bind(checkText(key, "idempotency key"), options.now?.() ?? null)
    .first<Row>();
  return row && { ...toRecord(row), result: decode(row.result) };
}

/**
 * Forgets keys, for an operator who wants their work done again: the next claim finds them new. One statement. The answer
 * says for each key, in the same order, whether it was there and is gone.
 *
 * A key that somebody holds stays, since two effects would run at a time: `false`. Where the effect may have happened, ask
 * the provider first; to have it never repeated, leave the key as it is.
 *
 * @param keys at most 500
 * @throws TypeError or RangeError for keys that D1 cannot take; nothing is forgotten
 */
export async function forget(
  db: Database,
  keys: readonly string[],
  options: StoreOptions = {},
): Promise<boolean[]> {
  const entries = keys.map((key) => ({ key: checkText(key, "idempotency key") }));
  const sql = `
DELETE FROM ${tableOf(options)}
WHERE key IN (SELECT value ->> '$.key' FROM json_each(?1))
AND (state = 'done' OR lease_expires_at <= ${nowMs("?2")})
RETURNING key`;
  return change(db, sql, entries, options.now?.() ?? null);
}
