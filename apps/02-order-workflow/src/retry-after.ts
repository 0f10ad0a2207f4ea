import type { WorkflowDelayFunction } from "cloudflare:workers";

/** The delay for a provider that names no time. */
const DEFAULT_DELAY_MS = 1000;

/** The longest pause that a provider can ask for. */
const MAX_DELAY_MS = 5 * 60 * 1000;

/** The provider's own "try again in N s". It is in the message: an error's other properties are lost. */
export const retryAfter: WorkflowDelayFunction = ({ error }) => {
  const seconds = /try again in (\d+) s/.exec(error.message)?.[1];
  return seconds ? Math.min(Number(seconds) * 1000, MAX_DELAY_MS) : DEFAULT_DELAY_MS;
};
