import { backoffSeconds, type BackoffOptions } from "./backoff.ts";
import { PermanentError } from "./errors.ts";
import type { ClockOptions, Lease, Database } from "./lease.ts";

// setTimeout takes at most this.
const MAX_TIMER_MS = 2 ** 31 - 1;

/** What a handler is told about its lease. */
export interface HandlerContext extends Lease {
  /** Aborted when `handlerTimeoutMs` is over. */
  signal: AbortSignal;
}

export interface ConsumeOnceOptions<Body> extends ClockOptions {
  db: Database;
  /** The message's idempotency key: from what the message *is*, not from its id. Throwing is a permanent failure. */
  key: (message: Message<Body>) => string | Promise<string>;
  /** What the key is used for, see `fingerprintOf`. Throwing is a permanent failure. */
  fingerprint?: (message: Message<Body>) => string | Promise<string>;
  /** Does the work. What it returns is not kept. */
  handler: (message: Message<Body>, context: HandlerContext) => unknown;
  /**
   * Told of a message that can never succeed, before it is acked: keep it somewhere. If this throws, the message is
   * retried. It can be told of one message twice. Without it such a message is retried until the queue's
   * `max_retries` send it to the dead letter queue.
   */
  onPermanentFailure?: (message: Message<Body>, error: unknown) => unknown;
  /** Which of the handler's errors are permanent. Default: a `PermanentError`. */
  isPermanent?: (error: unknown) => boolean;
  /** Most handlers at a time. Default 20. A Worker has 6 connections at a time (Cloudflare docs, "Workers: Limits"). */
  concurrency?: number;
  /** How long the batch may take, in milliseconds. Default 60,000. */
  leaseMs?: number;
  /** How long one handler may take, in milliseconds, at most `leaseMs`. Default: half of `leaseMs`. */
  handlerTimeoutMs?: number;
  /** Delay of a retry after a failure, from the message's attempts. */
  backoff?: BackoffOptions;
  /** Milliseconds that only go forward, to tell how much of the lease is gone. Default: `performance.now`. For tests. */
  monotonicNow?: () => number;
}

/** The options with their defaults. */
export type Settings<Body> = ReturnType<typeof checked<Body>>;

/** @throws RangeError if an option makes no sense */
export function checked<Body>(options: ConsumeOnceOptions<Body>) {
  const { leaseMs = 60_000, concurrency = 20, backoff = {} } = options;
  const { monotonicNow = () => performance.now() } = options;
  const { handlerTimeoutMs = Math.ceil(leaseMs / 2), isPermanent = isPermanentError } = options;
  const limits: [name: string, value: number, most: number][] = [
    ["leaseMs", leaseMs, MAX_TIMER_MS],
    ["handlerTimeoutMs", handlerTimeoutMs, leaseMs],
    ["concurrency", concurrency, Number.MAX_SAFE_INTEGER],
  ];
  for (const [name, value, most] of limits) {
    if (!(Number.isSafeInteger(value) && value >= 1 && value <= most)) {
      throw new RangeError(`${name} must be a whole number from 1 to ${most}, not ${value}`);
    }
  }
  backoffSeconds(1, backoff);
  return { ...options, leaseMs, handlerTimeoutMs, concurrency, backoff, isPermanent, monotonicNow };
}

function isPermanentError(error: unknown): boolean {
  return error instanceof PermanentError;
}
