/** What the exit codes mean that a shell reports of a command that was ended. */
export const STOPPED = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Ends a command's work on Ctrl-C and SIGTERM, the second time at once. While workerd is up, miniflare's own listener is called
 * next: it kills workerd and exits with the same code.
 */
export class Stop implements Disposable {
  readonly #stopped = new AbortController();
  readonly #say: () => void;
  /** Set once it was asked to end. */
  exitCode: number | undefined;

  /** @param say called first */
  constructor(say: () => void) {
    this.#say = say;
    process.on("SIGINT", this.#onSignal).on("SIGTERM", this.#onSignal);
  }

  /** Aborted once the command is to end. */
  get signal(): AbortSignal {
    return this.#stopped.signal;
  }

  readonly #onSignal = (signal: keyof typeof STOPPED) => {
    if (this.exitCode !== undefined) process.exit(STOPPED[signal]);
    this.#say();
    this.exitCode = STOPPED[signal];
    this.#stopped.abort();
  };

  [Symbol.dispose](): void {
    process.off("SIGINT", this.#onSignal).off("SIGTERM", this.#onSignal);
  }
}
