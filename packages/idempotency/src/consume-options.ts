import { backoffSeconds, type BackoffOptions } from "./backoff.ts";
import { checkedKeep, type KeepOptions } from "./claim.ts";
import { checkedTimes, type ConsumerTimes } from "./consumer-times.ts";
import type { MessageOutcome } from "./consume-stages.ts";
import { PermanentError } from "./errors.ts";
import type { Database, EffectContext } from "./lease.ts";
import { realTimer, type Timer } from "./renew.ts";

export interface ConsumeOnceOptions<Body> extends KeepOptions, ConsumerTimes {
  db: Database;
  /** The message's idempotency key: from what the message *is*, not from its id. Throwing is a permanent failure. */
  key: (message: Message<Body>) => string | Promise<string>;
  /**
   * What the key is used for: `fingerprintOfBody`, or see `fingerprintOf`. Another payload under the same key is a
   * permanent failure, as is throwing, and a key that was used without a fingerprint: so turn it on together with keys that
   * were never used before.
   */
  fingerprint?: (message: Message<Body>) => string | Promise<string>;
  /** Does the work. What it returns is not kept. */
  handler: (message: Message<Body>, context: EffectContext) => unknown;
  /**
   * Told of a message that can never succeed, before it is acked: keep it somewhere. If this throws, the message is
   * retried. It can be told of one message twice. Without it such a message is retried until the queue's
   * `max_retries` send it to the dead letter queue.
   */
  onPermanentFailure?: (message: Message<Body>, error: unknown) => unknown;
  /** Told what became of each message, once it is acked or to be retried: for metrics and logs. May throw. */
  onOutcome?: (outcome: MessageOutcome, message: Message<Body>) => unknown;
  /** Which of the handler's errors are permanent. Default: a `PermanentError`. */
  isPermanent?: (error: unknown) => boolean;
  /** Delay of a retry after a failure, from the message's attempts. */
  backoff?: BackoffOptions;
  /** Milliseconds that only go forward, to tell how much of the lease is gone. Default: `performance.now`. For tests. */
  monotonicNow?: () => number;
  /** Waits, to renew leases. Default: `setTimeout`. For tests. */
  timer?: Timer;
}

/** The options with their defaults. */
export type Settings<Body> = ReturnType<typeof checked<Body>>;

/** @throws RangeError or TypeError if an option makes no sense */
export function checked<Body>(options: ConsumeOnceOptions<Body>) {
  const { backoff = {}, isPermanent = isPermanentError } = options;
  const { monotonicNow = () => performance.now(), timer = realTimer } = options;
  const times = checkedTimes(options);
  backoffSeconds(1, backoff);
  checkedKeep(options, times.leaseMs);
  return {
    ...options,
    ...times,
    backoff,
    isPermanent,
    monotonicNow,
    timer,
  };
}

function isPermanentError(error: unknown): boolean {
  return error instanceof PermanentError;
}
