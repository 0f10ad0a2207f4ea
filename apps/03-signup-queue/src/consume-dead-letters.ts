import { backoffSeconds } from "@durable-lessons/idempotency";
import { alertOperators } from "./alert-operators.ts";
import { keepDeadLetter } from "./keep-dead-letter.ts";

/** A hundred retries, in the end four to eight hours apart: together longer than the 14 days that a message can live. */
const BACKOFF = { maxSeconds: 8 * 60 * 60 };

/**
 * Keeps every dead letter. What fails here is retried for as long as a message can live. What this code itself breaks, by a throw
 * that nobody catches, comes back after `retry_delay`, and after `max_retries` goes to the queue `signups-unread`: that has
 * no consumer that could be broken, and keeps it for 14 days.
 */
export async function consumeDeadLetters(batch: MessageBatch, env: ConsumerEnv): Promise<void> {
  for (const message of batch.messages) {
    try {
      await keepDeadLetter(message, env);
      message.ack();
    } catch (error) {
      console.error("a dead letter could not be stored, will be retried", message.id, error);
      message.retry({ delaySeconds: backoffSeconds(message.attempts, BACKOFF) });
    }
  }
  await alertOperators(env);
}
