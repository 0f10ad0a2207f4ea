import { ProviderError } from "@durable-lessons/outside-world";
import { NonRetryableError } from "cloudflare:workflows";

/**
 * Did a wait end because its time was up? Production keeps an error's name. The local engine puts it in front of the
 * message, and has lost it when the wait is read back after a crash (measured locally).
 */
export const isTimeout = (error: unknown) =>
  /^(Error: )?(WorkflowTimeoutError\b|Execution timed out after )/.test(String(error));

/** Turns a provider's error that no retry can help into one that is not retried. */
export const giveUpOn = (code: string) => (error: unknown) => {
  if (error instanceof ProviderError && error.code === code)
    throw new NonRetryableError(error.message);
  throw error;
};
