import { checkedTimes, type ConsumerTimes } from "./consumer-times.ts";
import { checkWhole } from "./check.ts";

// Cloudflare docs, "Queues: Limits".
const MAX_RETRIES = 100;
const MAX_BATCH_SIZE = 100;
const MAX_DELAY_SECONDS = 86_400;

/** The settings of a queue's consumer that go with `consumeOnce`, as wrangler's configuration spells them. */
export interface QueueSettings {
  max_batch_size: number;
  max_retries: number;
  retry_delay: number;
}

/**
 * The queue's settings under which each message gets its tries, although deliveries that only wait count as well: the
 * platform counts every delivery, whatever the consumer makes of it (measured locally), and no consumer can take that back.
 *
 * - `retry_delay` is as long as a lease. When a consumer dies, its messages come again after it: sooner, they would find
 *   their keys held by the dead, and use a delivery up for nothing.
 * - `max_retries` has, beside the tries, the deliveries that a message can spend while another consumer works on its key.
 *   A live consumer renews its leases, so each of these waits is at least two thirds of a lease long.
 * - `max_batch_size` is the one given, if a consumer can start all of such a batch before its time is over.
 *
 * A test that compares them with the configuration keeps the two together. More retries or a longer delay do no harm.
 *
 * @param options the times that `consumeOnce` is given; `tries`: how often a message is to be really tried, default 4;
 *   `max_batch_size`: default 10
 * @throws RangeError if an option makes no sense, if a batch is too large for `batchTimeoutMs`, or if more retries were
 *   needed than a queue allows
 * @example
 * expect(consumer).toMatchObject(queueSettings({ leaseMs: LEASE_MS, tries: 3, max_batch_size: 10 }));
 */
export function queueSettings(
  options: ConsumerTimes & { tries?: number; max_batch_size?: number } = {},
): QueueSettings {
  const { tries = 4, max_batch_size = 10 } = options;
  const { leaseMs, batchTimeoutMs, handlerTimeoutMs, concurrency } = checkedTimes(options);
  checkWhole("tries", tries);
  checkWhole("max_batch_size", max_batch_size, 1, MAX_BATCH_SIZE);

  const longestMs = Math.ceil(max_batch_size / concurrency) * handlerTimeoutMs;
  if (longestMs > batchTimeoutMs) {
    throw new RangeError(
      `max_batch_size: ${max_batch_size} handlers, ${concurrency} at a time, may take ${longestMs} ms, and batchTimeoutMs is ${batchTimeoutMs}`,
    );
  }
  const waits = Math.ceil(longestMs / ((leaseMs * 2) / 3));
  const max_retries = tries - 1 + waits;
  if (max_retries > MAX_RETRIES) {
    throw new RangeError(
      `${tries} tries and ${waits} waits are more than ${MAX_RETRIES} retries: make leaseMs longer, or handlerTimeoutMs shorter`,
    );
  }
  const retry_delay = Math.min(MAX_DELAY_SECONDS, Math.ceil(leaseMs / 1000));
  return { max_batch_size, max_retries, retry_delay };
}
