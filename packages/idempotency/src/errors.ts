/** The key was used before for another payload (another fingerprint). Nothing ran. Answer 422, or use a new key. */
export class FingerprintConflictError extends Error {
  override name = "FingerprintConflictError";
  readonly key: string;

  constructor(key: string) {
    super(`The idempotency key "${key}" was used for another payload: use a new key for new work`);
    this.key = key;
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
 * twice. Make the lease longer than the effect's own timeout.
 */
export class LeaseLostError extends Error {
  override name = "LeaseLostError";
  readonly key: string;

  constructor(key: string) {
    super(
      `The lease of the idempotency key "${key}" ended before its work did: make leaseMs longer`,
    );
    this.key = key;
  }
}

/** Thrown by a queue handler for a message that can never succeed: `consumeOnce` does not retry it. */
export class PermanentError extends Error {
  override name = "PermanentError";
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
