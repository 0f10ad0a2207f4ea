/** A piece of work took longer than it may. */
export class TimeLimitError extends Error {
  override readonly name = "TimeLimitError";
}

/**
 * Waits for some work, but not longer than `ms` milliseconds. The work itself is not ended.
 *
 * A timer and not `AbortSignal.timeout`: Node collects a signal that only a request listens to, and then nothing ends the
 * wait (measured locally with Node 24 and forced garbage collection).
 *
 * @param message what to say, or how to find out what to say, once time has run out
 * @throws TimeLimitError once time has run out, and whatever the work throws
 */
export async function within<T>(
  work: Promise<T>,
  ms: number,
  message: string | (() => string),
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new TimeLimitError(typeof message === "string" ? message : message())),
    ms,
  );
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
    // Nobody waits for it any more.
    work.catch(() => undefined);
  }
}
