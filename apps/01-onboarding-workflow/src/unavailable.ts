import type { Context } from "hono";

const RETRY_AFTER_SECONDS = 10;

/** Answers 503 with `Retry-After`: nobody knows whether it has happened, and it is safe to ask for it again. */
export function unavailable(c: Context, cause: unknown) {
  console.error(cause);
  const error = `This cannot be done right now. Send the same again in ${RETRY_AFTER_SECONDS} seconds.`;
  return c.json({ error }, 503, { "retry-after": String(RETRY_AFTER_SECONDS) });
}
