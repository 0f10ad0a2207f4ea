/**
 * What statements are prepared on: a `D1Database`, or a `D1DatabaseSession` of one. Every statement of this package but
 * `get` writes, and so runs on the primary instance whatever the session's constraint (Cloudflare docs, "D1: Global read
 * replication").
 */
export interface Database {
  prepare: (sql: string) => D1PreparedStatement;
}

/** Where the keys are kept, and by which clock. The same for every call about one key. */
export interface StoreOptions {
  /** The table of the keys, if a tenant has one of its own. Default `idempotency_keys`. */
  table?: string | undefined;
  /** Milliseconds since 1970. Default: D1's own clock. For tests. */
  now?: (() => number) | undefined;
}

/** A key that is held, and the token that says by whom. */
export interface Lease {
  key: string;
  owner: string;
}

/** What an effect is told about its lease. */
export interface EffectContext extends Lease {
  /** Aborted when the effect's time is over, or its lease was lost. */
  signal: AbortSignal;
}

/**
 * The table's name in SQL.
 *
 * @throws TypeError if it is no plain name
 */
export function tableOf({ table = "idempotency_keys" }: StoreOptions): string {
  if (!/^[A-Za-z_]\w{0,62}$/.test(table)) {
    throw new TypeError(`table must be a plain name, not "${table}"`);
  }
  return `"${table}"`;
}

/**
 * The time in SQL: what is bound to `parameter`, or D1's own clock where that is NULL. One clock for all claimers, and not
 * that of the Worker that happens to ask.
 */
export function nowMs(parameter: string): string {
  return `COALESCE(${parameter}, CAST(unixepoch('subsec') * 1000 AS INTEGER))`;
}
