import { claim, type KeepOptions } from "./claim.ts";
import { complete } from "./complete.ts";
import {
  FingerprintConflictError,
  InDoubtError,
  InProgressError,
  LeaseLostError,
  NothingHappenedError,
} from "./errors.ts";
import type { Json } from "./json.ts";
import { checkWhole } from "./check.ts";
import { type Database, type EffectContext } from "./lease.ts";
import { release } from "./release.ts";
import { keepLeases, realTimer, type Timer } from "./renew.ts";
import { decode, encode, parameterOf } from "./statement.ts";

export interface OnceOptions extends KeepOptions {
  /** How long nobody else may have the key if this Worker dies, in milliseconds. Default 60,000. */
  leaseMs?: number;
  /**
   * For how long the lease is renewed while the effect is at work, in milliseconds: longer than the effect's own timeout.
   * Default 0: the effect must end within `leaseMs`.
   */
  renewForMs?: number;
  /** What the key is used for, see `fingerprintOf`. */
  fingerprint?: string | undefined;
  /** Told what became of the call: for metrics and logs. May throw. */
  onOutcome?: (outcome: OnceOutcome) => unknown;
  /** Milliseconds that only go forward. Default: `performance.now`. For tests. */
  monotonicNow?: () => number;
  /** Waits, to renew the lease. Default: `setTimeout`. For tests. */
  timer?: Timer;
}

/** What became of one call of `once`. */
export interface OnceOutcome {
  key: string;
  /**
   * - `done`: the effect ran
   * - `duplicate`: it was done before, and its result given back
   * - `refused`: nothing ran; `error` says why (in progress, a conflict, in doubt, D1 not reached before the effect)
   * - `failed`: the effect ran and threw, or could not be recorded; see `error`
   */
  outcome: "done" | "duplicate" | "refused" | "failed";
  error?: unknown;
  /** How long the effect took, in milliseconds, if it ran. */
  tookMs?: number;
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
 * idempotency key: that closes the gap, for as long as the provider remembers the key (`providerRemembersMs`).
 *
 * @param effect what to do. Its argument is the key, the token that holds it, and a signal that says when it was lost
 * @throws FingerprintConflictError, InProgressError, InDoubtError: nothing ran
 * @throws LeaseLostError: it ran for longer than its lease, and another caller has claimed the key since
 * @throws TypeError, RangeError: the key or an option is wrong and nothing ran; or the effect ran and its result cannot be
 *   stored: then the key is done without a result, since the effect must not run again
 * @throws what D1 throws: before the effect, nothing ran; after it, the completion may be lost, and the effect runs again
 *   after the lease
 */
export async function once<T>(
  db: Database,
  key: string,
  effect: (lease: EffectContext) => Promise<T> | T,
  options: OnceOptions = {},
): Promise<{ result: Json<T>; ran: boolean }> {
  const told: OnceOutcome = { key, outcome: "refused" };
  try {
    const { result, ran } = await claimAndRun(db, key, effect, options, told);
    return { result: result as Json<T>, ran };
  } catch (error) {
    told.error = error;
    throw error;
  } finally {
    try {
      await options.onOutcome?.(told);
    } catch (error) {
      console.error("onOutcome failed", told, error);
    }
  }
}

async function claimAndRun(
  db: Database,
  key: string,
  effect: (lease: EffectContext) => unknown,
  options: OnceOptions,
  told: OnceOutcome,
): Promise<{ result: unknown; ran: boolean }> {
  const { leaseMs = 60_000, renewForMs = 0, fingerprint, providerRemembersMs } = options;
  const { monotonicNow = () => performance.now(), timer = realTimer } = options;
  checkWhole("renewForMs", renewForMs, 0);
  const claimedAt = monotonicNow();
  // The effect may reach its provider as late as its lease can end.
  const beyondLeaseMs = Math.max(0, renewForMs - leaseMs);
  const remembersMs = providerRemembersMs && Math.max(0, providerRemembersMs - beyondLeaseMs);
  const [claimed] = await claim(db, [{ key, fingerprint }], {
    ...options,
    leaseMs,
    providerRemembersMs: remembersMs,
  });

  switch (claimed?.state) {
    case "claimed":
      break;
    case "done":
      told.outcome = "duplicate";
      return { result: claimed.result, ran: false };
    case "in progress":
      throw new InProgressError(key, claimed.retryAfterMs);
    case "in doubt":
      throw new InDoubtError(claimed.record);
    case "conflict":
      throw new FingerprintConflictError(claimed.record);
    case undefined:
      throw new Error(`D1 returned no row for the key "${key}"`);
  }

  const lease = { key, owner: claimed.owner };
  const controller = new AbortController();
  const kept = keepLeases(
    () => [lease],
    () => controller.abort(new LeaseLostError(key)),
    {
      ...options,
      db,
      leaseMs,
      monotonicNow,
      timer,
      claimedAt,
      mayRenew: () => monotonicNow() - claimedAt < renewForMs,
    },
  );
  told.outcome = "failed";
  let result: unknown;
  try {
    result = await effect({ ...lease, signal: controller.signal });
  } catch (error) {
    await kept.stop();
    const nothingHappened = error instanceof NothingHappenedError;
    // The effect's error is the one to tell. A lease that could not be released ends by itself.
    await release(db, [{ ...lease, nothingHappened }], options).catch(() => undefined);
    throw error;
  } finally {
    told.tookMs = monotonicNow() - claimedAt;
  }
  await kept.stop();

  let stored: string | undefined;
  let unstorable: unknown;
  try {
    const entry = { ...lease, result: encode(result) };
    parameterOf([entry]);
    stored = entry.result;
  } catch (error) {
    unstorable = error;
  }
  const [held] = await complete(db, [{ ...lease, result: decode(stored) }], options);
  if (!held) throw new LeaseLostError(key);
  if (unstorable !== undefined) throw unstorable;
  told.outcome = "done";
  return { result: decode(stored), ran: true };
}
