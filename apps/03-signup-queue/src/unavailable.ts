import type { Context } from "hono";

const RETRY_AFTER_SECONDS = 30;

/** Answers 503 with `Retry-After`: what was asked for has not happened, and can be asked for again. */
export function unavailable(c: Context, cause: unknown) {
  console.error(cause);
  const error = `This cannot be done right now. Try again in ${RETRY_AFTER_SECONDS} seconds.`;
  return c.json({ error }, 503, { "retry-after": String(RETRY_AFTER_SECONDS) });
}
