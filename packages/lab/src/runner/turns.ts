/** Lets so many work at once, and tells when all have left. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];
  #working = 0;
  #whenAllLeft = () => {};

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Waits for a turn. Whoever has one leaves it, once. */
  async take(): Promise<{ leave: () => void }> {
    this.#working += 1;
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let hasLeft = false;
    return {
      leave: () => {
        if (hasLeft) return;
        hasLeft = true;
        this.#working -= 1;
        const next = this.#waiting.shift();
        if (next) next();
        else this.#free += 1;
        if (this.#working === 0) this.#whenAllLeft();
      },
    };
  }

  /** From now on this is done whenever all that took a turn have left it. */
  whenAllLeft(act: () => void): void {
    this.#whenAllLeft = act;
  }
}
