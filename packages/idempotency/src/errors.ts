import type { KeyRecord } from "./record.ts";

/** Refused because of what is known of the key. */
abstract class RefusedError extends Error {
  readonly key: string;
  /** What is known of the key. Its result is not in it: it may be another caller's. */
  readonly record: KeyRecord;

  constructor(record: KeyRecord, message: string) {
    super(`The idempotency key "${record.key}" was ${message}`);
    this.key = record.key;
    this.record = record;
  }
}

/**
 * The key was used before for another payload (another fingerprint), or without a fingerprint. Nothing ran. Answer 422, or
 * use a new key.
 */
export class FingerprintConflictError extends RefusedError {
  override name = "FingerprintConflictError";

  constructor(record: KeyRecord) {
    super(record, "used for another payload");
  }
}

/**
 * The key's work was begun and never finished, and by now the provider may have forgotten the key: it may have happened, and
 * would happen again. Nothing ran. A person looks at the provider, then has it done again (`forget`) or leaves the key.
 */
export class InDoubtError extends RefusedError {
  override name = "InDoubtError";

  constructor(record: KeyRecord) {
    const since = new Date(record.firstClaimedAt).toISOString();
    super(
      record,
      `begun at ${since} and never finished, and its provider may have forgotten it: a person must decide`,
    );
  }
}

/** Another caller holds the key under a lease that is alive. Nothing ran. Answer 409 with `Retry-After`. */
export class InProgressError extends Error {
  override name = "InProgressError";
  readonly key: string;
  /** Milliseconds until the other caller's lease ends, at least 1. */
  readonly retryAfterMs: number;

  constructor(key: string, retryAfterMs: number) {
    super(
      `The work of the idempotency key "${key}" is in progress: ask again in ${retryAfterMs} ms`,
    );
    this.key = key;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * The effect ran, but for longer than its lease, and another caller has claimed the key since: the effect may run
 * twice. Make the lease, or the time for which it is renewed, longer than the effect's own timeout.
 */
export class LeaseLostError extends Error {
  override name = "LeaseLostError";
  readonly key: string;

  constructor(key: string) {
    super(`The lease of the idempotency key "${key}" ended before its work did`);
    this.key = key;
  }
}

/** Thrown by a queue handler for a message that can never succeed: `consumeOnce` does not retry it. */
export class PermanentError extends Error {
  override name = "PermanentError";
}

/**
 * Thrown by a handler or an effect that knows that it had no effect: the provider refused it at the door (429, no
 * connection). Its try does not count for `providerRemembersMs`. It is tried again like any other failure.
 */
export class NothingHappenedError extends Error {
  override name = "NothingHappenedError";
}

/**
 * Whether `db.batch()` was rolled back because a `completeStatement` in it had lost its lease.
 *
 * @param error what the batch threw
 */
export function isLeaseLost(error: unknown): boolean {
  return (
    error instanceof Error &&
    error.message.includes("CHECK constraint failed: idempotency_lease_held")
  );
}
