import { backoffSeconds } from "@durable-lessons/idempotency";
import { keepDeadLetter } from "./keep-dead-letter.ts";

/** A hundred retries, in the end four to eight hours apart: together longer than the 14 days that a message can live. */
const BACKOFF = { maxSeconds: 8 * 60 * 60 };

/** Keeps every dead letter. Behind this queue there is no other: what is acked or thrown away here is gone. */
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
}
