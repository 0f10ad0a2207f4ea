/**
 * An async iterator over what `produce` emits while it works. Ends when it ends, and throws what it throws. A consumer
 * that stops early aborts the signal and waits for the producer to clean up.
 */
export async function* emitted<T>(
  produce: (emit: (value: T) => void, signal: AbortSignal) => Promise<void>,
  outer?: AbortSignal,
): AsyncGenerator<T, void, void> {
  const waiting: T[] = [];
  let wake = () => {};
  const inner = new AbortController();
  const signal = outer ? AbortSignal.any([outer, inner.signal]) : inner.signal;
  let over = false;
  const work = produce((value) => {
    waiting.push(value);
    wake();
  }, signal).finally(() => {
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
    inner.abort();
    await work.catch(() => undefined);
  }
}
