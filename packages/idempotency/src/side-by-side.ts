/** Runs `work` for every item, at most `limit` at a time. `work` must not throw. */
export async function sideBySide<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const lanes = Array.from({ length: Math.min(limit, items.length) }, async () => {
    // All lanes take from the same iterator.
    for (const item of waiting) await work(item);
  });
  await Promise.all(lanes);
}

/** Thrown in place of an answer that did not come in time. What was waited for may go on. */
export class TimeoutError extends Error {
  override name = "TimeoutError";
}

/**
 * Waits for `work` for at most `timeoutMs` milliseconds.
 *
 * @param work gets the controller's signal, which is aborted when time is up
 * @throws TimeoutError, or what `work` throws
 */
export async function withTimeout<T>(
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T> | T,
  controller = new AbortController(),
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const error = new TimeoutError(`No answer in ${timeoutMs} ms`);
      controller.abort(error);
      reject(error);
    }, timeoutMs);
  });
  try {
    return await Promise.race([(async () => work(controller.signal))(), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
