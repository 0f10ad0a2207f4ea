import { checkNumber } from "./check.ts";

/** Longest delay of a queue message, in seconds (Cloudflare docs, "Queues: Limits"). */
const MAX_DELAY_SECONDS = 86_400;

export interface BackoffOptions {
  /** Longest delay after the first attempt, in seconds, at least 0.001. Default 10. */
  baseSeconds?: number;
  /** Longest delay of all, in seconds, at most 86,400. Default 3,600. */
  maxSeconds?: number;
  /** A number from 0 up to but not including 1. Default `Math.random`. */
  random?: () => number;
}

/**
 * How long to wait before the next attempt: exponential, capped, with jitter.
 *
 * A whole number of seconds from 1 to 86,400, as `message.retry({ delaySeconds })` takes it. It lies between a half and
 * the whole of `min(maxSeconds, baseSeconds × 2^(attempts − 1))`: never so short that the retries are used up inside an
 * outage, and spread, so that messages that failed together do not come back together.
 *
 * @param attempts how often it was tried, from 1: `message.attempts`
 * @throws RangeError if `attempts` is no number from 1, or the options make no sense
 */
export function backoffSeconds(attempts: number, options: BackoffOptions = {}): number {
  const { baseSeconds = 10, maxSeconds = 3600, random = Math.random } = options;
  checkNumber("attempts", attempts, 1);
  checkNumber("baseSeconds", baseSeconds, 0.001);
  checkNumber("maxSeconds", maxSeconds, 1, MAX_DELAY_SECONDS);
  const longest = Math.min(maxSeconds, baseSeconds * 2 ** (attempts - 1));
  return delaySeconds(longest * (1 - random() / 2));
}

/** The delay that a queue takes for a wait of `seconds`: a whole number from 1 to 86,400, rounded up. */
export function delaySeconds(seconds: number): number {
  return Math.min(MAX_DELAY_SECONDS, Math.max(1, Math.ceil(seconds)));
}
