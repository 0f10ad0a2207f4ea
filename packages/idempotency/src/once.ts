import { claim } from "./claim.ts";
import { complete } from "./complete.ts";
import type { Json } from "./json.ts";
import { FingerprintConflictError, InProgressError, LeaseLostError } from "./errors.ts";
import type { ClockOptions, Lease, Database } from "./lease.ts";
import { release } from "./release.ts";
import { decode, encode } from "./result.ts";

export interface OnceOptions extends ClockOptions {
  /** How long the effect may take, in milliseconds. Longer than its own timeout. Default 60,000. */
  leaseMs?: number;
  /** What the key is used for, see `fingerprintOf`. */
  fingerprint?: string | undefined;
}

/**
 * Runs `effect` unless it was done under this key before, and gives back its result: of this run (`ran: true`) or of
 * the run that did it.
 *
 * The result is kept as JSON and is what JSON makes of it in both cases, and its type says so: a `Date` comes back as text.
 *
 * If the effect throws, the key is released, its error is thrown, and the next call runs it again. If this Worker dies,
 * the next call after the lease runs it again.
 *
 * Guaranteed: two effects of one key never run while the lease of one of them is alive, and none starts once one is
 * done. For rows in this database more is possible: put `completeStatement(db, [lease])` into the effect's own
 * `db.batch()`, and they are written exactly once.
 *
 * Not guaranteed: that an effect outside of D1 happens once. Between the effect and its completion there is a gap: after
 * a crash in it, or after an effect that happened and threw, it runs again. Hand `lease.key` to the provider as its
 * idempotency key: that closes the gap.
 *
 * @param effect what to do. Its argument is the key and the token that holds it
 * @throws FingerprintConflictError, InProgressError: nothing ran
 * @throws LeaseLostError: it ran for longer than its lease, and another caller has claimed the key since
 * @throws TypeError, RangeError: the key or an option is wrong and nothing ran; or the effect ran and its result cannot be
 *   stored: then the key is done without a result, since the effect must not run again
 * @throws what D1 throws: before the effect, nothing ran; after it, the completion may be lost, and the effect runs again
 *   after the lease
 */
export async function once<T>(
  db: Database,
  key: string,
  effect: (lease: Lease) => Promise<T> | T,
  options: OnceOptions = {},
): Promise<{ result: Json<T>; ran: boolean }> {
  const { leaseMs = 60_000, fingerprint, now } = options;
  const [claimed] = await claim(db, [{ key, fingerprint }], { leaseMs, now });

  switch (claimed?.state) {
    case "claimed": {
      const result = await run(db, claimed, effect, { now });
      return { result: result as Json<T>, ran: true };
    }
    case "done":
      return { result: claimed.result as Json<T>, ran: false };
    case "in progress":
      throw new InProgressError(key, claimed.retryAfterMs);
    case "conflict":
    case undefined:
      throw new FingerprintConflictError(key);
  }
}

async function run(
  db: Database,
  { key, owner }: Lease,
  effect: (lease: Lease) => unknown,
  clock: ClockOptions,
): Promise<unknown> {
  const lease = { key, owner };
  let result: unknown;
  try {
    result = await effect(lease);
  } catch (error) {
    // The effect's error is the one to tell. A lease that could not be released ends by itself.
    await release(db, [lease]).catch(() => undefined);
    throw error;
  }

  let stored: string | undefined;
  let unstorable: unknown;
  try {
    stored = encode(result);
  } catch (error) {
    unstorable = error;
  }
  const [held] = await complete(db, [{ ...lease, result: decode(stored) }], clock);
  if (!held) throw new LeaseLostError(key);
  if (unstorable !== undefined) throw unstorable;
  return decode(stored);
}
