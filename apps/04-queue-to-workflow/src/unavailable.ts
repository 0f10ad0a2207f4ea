import type { Context } from "hono";

const RETRY_AFTER_SECONDS = 10;

/** Answers 503 with `Retry-After`: nobody knows whether the request has happened, and it can be sent again as it is. */
export function unavailable(c: Context, cause: unknown) {
  console.error(cause);
  const error = `Nobody knows whether this has happened. Send the same again in ${RETRY_AFTER_SECONDS} seconds: it is done once.`;
  return c.json({ error }, 503, { "retry-after": String(RETRY_AFTER_SECONDS) });
}
