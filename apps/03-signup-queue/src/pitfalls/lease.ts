import { InProgressError } from "@durable-lessons/idempotency";

/** Short, so that the work of a killed consumer goes on soon. In production: longer than the mail provider may take. */
export const LEASE = { leaseMs: 3000 };

/** The delay until another consumer's lease has ended, in whole seconds. */
export const untilItsEnd = (retryAfterMs: number) => ({
  delaySeconds: Math.ceil(retryAfterMs / 1000),
});

/** Brings a message back: one that somebody else works on once their lease has ended. */
export function retry(message: Message, error: unknown): void {
  message.retry(error instanceof InProgressError ? untilItsEnd(error.retryAfterMs) : {});
}
