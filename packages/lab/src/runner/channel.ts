/**
 * An async iterator over what `produce` emits while it works. Ends when it ends, and throws what it throws. A consumer
 * that stops early aborts the signal and waits for the producer to clean up.
 */
export async function* iterate<T>(
  produce: (emit: (value: T) => void, signal: AbortSignal) => Promise<void>,
  outer?: AbortSignal,
): AsyncGenerator<T, void, void> {
  const waiting: T[] = [];
  let wake = () => {};
  const stop = new AbortController();
  const unlink = linkAbort(outer, stop);
  let over = false;
  const work = produce((value) => {
    waiting.push(value);
    wake();
  }, stop.signal).finally(() => {
    over = true;
    wake();
  });
  // Handled below, when the consumer gets there.
  work.catch(() => undefined);
  try {
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) yield next;
      else if (over) break;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    await work;
  } finally {
    stop.abort();
    await work.catch(() => undefined);
    unlink();
  }
}

/**
 * Aborts `inner` when `outer` is aborted, with its reason. In the place of `AbortSignal.any`, which garbage collection may
 * cut off from its sources (measured locally with Node 24).
 *
 * @returns ends the link
 */
export function linkAbort(outer: AbortSignal | undefined, inner: AbortController): () => void {
  if (!outer) return () => undefined;
  const abort = () => inner.abort(outer.reason);
  if (outer.aborted) abort();
  outer.addEventListener("abort", abort, { once: true });
  return () => outer.removeEventListener("abort", abort);
}

/** Waits for some work, or throws the signal's reason once that is aborted. The work itself is not ended. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  work.catch(() => undefined);
  signal.throwIfAborted();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
