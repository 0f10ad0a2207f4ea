import { checkWhole } from "./check.ts";
import { nowMs, tableOf, type Database, type Lease, type StoreOptions } from "./lease.ts";
import { change, given, unlessDone } from "./statement.ts";

// What its owner has done in the meantime is left as it is, and is not lost. The retention counts from here.
const renewSql = (table: string) => `
UPDATE ${table} AS held SET
${unlessDone("lease_ms", "?2")},
${unlessDone("lease_expires_at", `${nowMs("?3")} + ?2`)},
${unlessDone("delete_at", `held.delete_at + ${nowMs("?3")} - held.updated_at`)},
${unlessDone("updated_at", nowMs("?3"))}
FROM ${given("key", "owner")}
WHERE held.key = given.key AND held.owner = given.owner
RETURNING key`;

/**
 * Makes many leases last for `leaseMs` from now, in one statement. The answer says for each entry, in the same order,
 * whether the key is still this owner's: `false` means that the lease had ended and another caller has claimed it.
 * `consumeOnce` and `once` do this by themselves. Safe to repeat.
 *
 * @param entries at most 500
 * @param options `leaseMs`: in milliseconds, from now
 * @throws RangeError for too many keys or a wrong `leaseMs`
 * @throws what D1 throws, after a second try. The leases may be renewed or not: repeat it
 */
export async function renew(
  db: Database,
  entries: readonly Lease[],
  options: StoreOptions & { leaseMs: number },
): Promise<boolean[]> {
  const { leaseMs, now } = options;
  checkWhole("leaseMs", leaseMs);
  return change(db, renewSql(tableOf(options)), entries, leaseMs, now?.() ?? null);
}

/** Calls `run` in so many milliseconds, and gives back what takes that back. */
export type Timer = (run: () => Promise<void>, ms: number) => () => void;

export const realTimer: Timer = (run, ms) => {
  const timer = setTimeout(() => void run(), ms);
  return () => clearTimeout(timer);
};

/** Leases that are renewed until they are let go. */
export interface KeptLeases {
  /** Milliseconds since the leases were surely this owner's for `leaseMs`. */
  sinceRenewedMs: () => number;
  /** Stops, and waits for a renewal that is under way. */
  stop: () => Promise<void>;
}

interface KeepOptions extends StoreOptions {
  db: Database;
  leaseMs: number;
  /** When the claim was asked for, by `monotonicNow`. */
  claimedAt: number;
  /** Whether to renew at all by now. */
  mayRenew?: () => boolean;
  monotonicNow: () => number;
  timer: Timer;
}

/**
 * Renews leases after each third of their length, so that one renewal may fail without harm.
 *
 * @param held the leases, asked for each time
 * @param onLost told of each lease that another caller has; and of all, for the last time, when none was renewed in time
 */
export function keepLeases(
  held: () => readonly Lease[],
  onLost: (lease: Lease) => void,
  options: KeepOptions,
): KeptLeases {
  const { db, leaseMs, mayRenew, monotonicNow, timer } = options;
  let renewedAt = options.claimedAt;
  let stopped = false;
  let underWay = Promise.resolve();

  const sinceRenewedMs = () => monotonicNow() - renewedAt;
  const plan = () => timer(() => (underWay = tick()), Math.max(1, Math.floor(leaseMs / 3)));
  let cancel = plan();

  async function tick(): Promise<void> {
    const askedAt = monotonicNow();
    const leases = held();
    try {
      if (mayRenew?.() ?? true) {
        const kept = await renew(db, leases, options);
        renewedAt = askedAt;
        for (const [index, lease] of leases.entries()) if (!kept[index]) onLost(lease);
      }
    } catch {
      // D1 may be back before the leases end.
    }
    if (sinceRenewedMs() >= leaseMs) for (const lease of leases) onLost(lease);
    else if (!stopped) cancel = plan();
  }

  return {
    sinceRenewedMs,
    stop: async () => {
      stopped = true;
      cancel();
      await underWay;
    },
  };
}
