/** A provider's answer that it is overloaded: 429 with `Retry-After`. */
interface TooMany {
  retryAfterSeconds: number;
}

const isTooMany = (error: unknown): error is TooMany =>
  typeof (error as Partial<TooMany> | null)?.retryAfterSeconds === "number";

/**
 * Does work as fast as its provider wants to have it. Where the provider says when to come back, all wait until then and not only
 * what was refused; then that is tried again.
 */
export class Pace {
  #until = 0;

  /**
   * @param work what asks the provider
   * @param signal ends the wait, as when the time of the batch is over
   * @throws what `work` throws but for a 429 that there is time to wait for
   */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      const waitMs = this.#until - Date.now();
      if (waitMs > 0) await scheduler.wait(waitMs, { signal });
      try {
        return await work();
      } catch (error) {
        if (!isTooMany(error) || signal.aborted) throw error;
        this.#until = Math.max(this.#until, Date.now() + error.retryAfterSeconds * 1000);
      }
    }
  }
}
