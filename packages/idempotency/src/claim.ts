import { checkKey, checkText } from "./key.ts";
import { checkCount, nowMs, twice, type ClockOptions, type Database } from "./lease.ts";
import { decode, parameterOf } from "./result.ts";

export interface KeyToClaim {
  key: string;
  /** What the work is about, see `fingerprintOf`. Not compared where this claim has none. */
  fingerprint?: string | undefined;
}

export type Claim =
  /** Yours: do the work, then `complete` or `release`. */
  | { state: "claimed"; key: string; owner: string }
  /** The work is done. `result` is what was stored with it. */
  | { state: "done"; key: string; result: unknown }
  /** Another caller is at it, for `retryAfterMs` (at least 1) more milliseconds at most. */
  | { state: "in progress"; key: string; retryAfterMs: number }
  /** The key was used for another fingerprint, or without one. */
  | { state: "conflict"; key: string };

interface ClaimedRow {
  key: string;
  state: "processing" | "done";
  owner: string | null;
  fingerprint: string | null;
  result: string | null;
  left_ms: number;
}

/** Whether the row on the table may be taken: its lease has ended and it is about the same payload, as far as one asks. */
const FREE = `held.state = 'processing'
      AND held.lease_expires_at <= excluded.updated_at
      AND (excluded.fingerprint IS NULL OR held.fingerprint IS excluded.fingerprint)`;

const CLAIM = `
  INSERT INTO idempotency_keys AS held
    (key, state, owner, lease_ms, lease_expires_at, fingerprint, created_at, updated_at)
  SELECT
    value ->> '$.key', 'processing', ?2, ?3, clock.now + ?3, value ->> '$.fingerprint', clock.now, clock.now
  FROM json_each(?1), (SELECT ${nowMs("?4")} AS now) AS clock
  WHERE true
  ON CONFLICT (key) DO UPDATE SET
    owner = iif(${FREE}, excluded.owner, held.owner),
    lease_ms = iif(${FREE}, excluded.lease_ms, held.lease_ms),
    -- No lease has more left than it was given. If it seems to, the clock went back: it runs anew from here, so that
    -- the key is not blocked for as long as the clock was set back.
    lease_expires_at = iif(${FREE}, excluded.lease_expires_at,
      min(held.lease_expires_at, excluded.updated_at + held.lease_ms)),
    updated_at = iif(${FREE}, excluded.updated_at, held.updated_at)
  -- An upsert without WHERE gives back every row, the untouched ones too: one statement says who has what.
  RETURNING key, state, owner, fingerprint, result, lease_expires_at - ${nowMs("?4")} AS left_ms`;

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
 * @param entries at most 500
 * @param options `leaseMs`: how long the work may take, in milliseconds
 * @throws TypeError for a key that D1 cannot keep or that has a part missing, RangeError for too many keys, keys that are
 *   more bytes than D1 takes in one parameter, or a wrong `leaseMs`; nothing is claimed
 * @throws what D1 throws, after a second try. Keys may then be claimed and stay so until the lease ends
 */
export async function claim(
  db: Database,
  entries: readonly KeyToClaim[],
  options: ClockOptions & { leaseMs: number },
): Promise<Claim[]> {
  const { leaseMs, now } = options;
  if (!(Number.isSafeInteger(leaseMs) && leaseMs >= 1)) {
    throw new RangeError(`leaseMs must be a whole number of milliseconds from 1, not ${leaseMs}`);
  }
  checkCount(entries.length);
  for (const { key, fingerprint } of entries) {
    checkKey(key);
    if (fingerprint !== undefined) checkText(fingerprint, "fingerprint");
  }
  if (entries.length === 0) return [];

  const owner = crypto.randomUUID();
  const parameter = parameterOf(entries.map(({ key, fingerprint }) => ({ key, fingerprint })));
  // The token makes the repetition safe: what the first try claimed is this caller's own.
  const { results } = await twice(() =>
    db
      .prepare(CLAIM)
      .bind(parameter, owner, leaseMs, now?.() ?? null)
      .all<ClaimedRow>(),
  );

  const rows = new Map(results.map((row) => [row.key, row]));
  const given = new Set<string>();
  return entries.map((entry) => {
    const row = rows.get(entry.key);
    if (row === undefined) throw new Error(`D1 gave no row for the key "${entry.key}"`);
    const answer = toClaim(row, entry, given.has(entry.key) ? undefined : owner);
    if (answer.state === "claimed") given.add(entry.key);
    return answer;
  });
}

function toClaim(row: ClaimedRow, { key, fingerprint }: KeyToClaim, owner?: string): Claim {
  if (fingerprint !== undefined && row.fingerprint !== fingerprint) {
    return { state: "conflict", key };
  }
  if (row.state === "done") return { state: "done", key, result: decode(row.result) };
  if (row.owner === owner) return { state: "claimed", key, owner };
  return { state: "in progress", key, retryAfterMs: row.left_ms };
}
