import type { WorkflowDelayFunction } from "cloudflare:workers";

/** What a provider that names no time gets. */
const DEFAULT_DELAY_MS = 1000;

/** Longest pause that a provider can make us keep. */
const MAX_DELAY_MS = 5 * 60 * 1000;

/** The provider's own "try again in N s". It stands in the message: other properties of an error are lost on its way. */
export const retryAfter: WorkflowDelayFunction = ({ error }) => {
  const seconds = /try again in (\d+) s/.exec(error.message)?.[1];
  return seconds ? Math.min(Number(seconds) * 1000, MAX_DELAY_MS) : DEFAULT_DELAY_MS;
};
