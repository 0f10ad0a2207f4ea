import { checkWhole } from "./check.ts";

/** Longest time that a timer takes, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** A batch may take 15 minutes (Cloudflare docs, "Queues: Limits"): this leaves one to record what came of it. */
const DEFAULT_BATCH_TIMEOUT_MS = 14 * 60_000;

/** How long things may take that a consumer does, as far as its queue's settings depend on it. */
export interface ConsumerTimes {
  /**
   * How long nobody else may have a key after its consumer has died, in milliseconds. While a consumer lives it renews its
   * leases: a batch may take longer. Default 60,000.
   */
  leaseMs?: number;
  /** How long one handler may take, in milliseconds, at most `batchTimeoutMs`. Default: half of `leaseMs`. */
  handlerTimeoutMs?: number;
  /** How long all handlers of a batch may take, in milliseconds. None starts that might not end by then. Default 840,000. */
  batchTimeoutMs?: number;
  /** Most handlers at a time. Default 20. A Worker has 6 connections at a time (Cloudflare docs, "Workers: Limits"). */
  concurrency?: number;
}

/** @throws RangeError if one of them makes no sense */
export function checkedTimes(times: ConsumerTimes) {
  const { leaseMs = 60_000, batchTimeoutMs = DEFAULT_BATCH_TIMEOUT_MS, concurrency = 20 } = times;
  const { handlerTimeoutMs = Math.min(Math.ceil(leaseMs / 2), batchTimeoutMs) } = times;
  checkWhole("leaseMs", leaseMs, 1, MAX_TIMER_MS);
  checkWhole("batchTimeoutMs", batchTimeoutMs, 1, MAX_TIMER_MS);
  checkWhole("handlerTimeoutMs", handlerTimeoutMs, 1, batchTimeoutMs);
  checkWhole("concurrency", concurrency);
  return { leaseMs, batchTimeoutMs, handlerTimeoutMs, concurrency };
}
