import type { Context } from "hono";

const RETRY_AFTER_SECONDS = 30;

/** Answers 503 with `Retry-After`: as far as is known it has not happened, and it is safe to ask for it again. */
export function unavailable(c: Context, cause: unknown) {
  console.error(cause);
  const error = `This cannot be done right now. Try again in ${RETRY_AFTER_SECONDS} seconds.`;
  return c.json({ error }, 503, { "retry-after": String(RETRY_AFTER_SECONDS) });
}
