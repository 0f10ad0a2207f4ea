import type { GauntletProgress } from "../runner/gauntlet.ts";
import type { Progress } from "../runner/index.ts";

/** One line on a terminal that says what is going on, rewritten in place. */
export class ProgressLine {
  readonly #stream: NodeJS.WriteStream;
  readonly #enabled: boolean;
  #started = 0;
  #ended = 0;

  constructor(stream: NodeJS.WriteStream, enabled: boolean) {
    this.#stream = stream;
    this.#enabled = enabled;
  }

  /** Shows where the work is now. */
  show(progress: Progress): void {
    this.#show(this.#text(progress));
  }

  /** Shows where the gauntlet is now. */
  showGauntlet(progress: GauntletProgress): void {
    this.#show(this.#gauntletText(progress));
  }

  #show(text: string | undefined): void {
    if (!this.#enabled || !text) return;
    this.clear();
    this.#stream.write(text.slice(0, (this.#stream.columns ?? 80) - 1));
  }

  /** Removes the line. */
  clear(): void {
    if (this.#enabled) this.#stream.write("\r\u001B[2K");
  }

  #gauntletText(progress: GauntletProgress): string | undefined {
    switch (progress.type) {
      case "starting":
        // Beside those of another lesson.
        this.#started += progress.variants;
        return `… ${progress.lesson}: starting workerd`;
      case "trials":
        this.#started += progress.count;
        return `… ${progress.count} trials`;
      case "trial-ended":
        this.#ended += 1;
        return `… ${this.#ended} of ${this.#started} runs ended; ${progress.pair} (${progress.variant}): ${progress.trial}`;
      case "crashed":
        return `… workerd ${progress.pidAfter} is up, waking the runs`;
      case "runtime-lost":
        return `… ${progress.pair} (${progress.variant}): ${progress.reason}; starting workerd again`;
      case "flow-trial-ended":
        return `… the lesson's own code, ${progress.flow}: ${progress.trial}`;
      case "flow-judged":
      case "pair-judged":
      case "pair-unreadable":
        return undefined;
    }
  }

  #text(progress: Progress): string | undefined {
    switch (progress.type) {
      case "starting":
        this.#started = 0;
        this.#ended = 0;
        return `… ${progress.lesson}: starting workerd`;
      case "ready":
        return `… ${progress.lesson}: workerd ${progress.pid} is up, starting the runs`;
      case "run-started":
        this.#started += 1;
        return `… ${this.#started} runs started`;
      case "crash-point":
        return `… ${progress.pair} (${progress.variant}) is at its crash point`;
      case "crashed":
        return `… workerd ${progress.pidAfter} is up, waking the runs`;
      case "run-disturbed":
      case "run-woken":
        return `… ${progress.pair} (${progress.variant}): ${progress.did}`;
      case "run-ended":
        this.#ended += 1;
        return `… ${this.#ended} of ${this.#started} runs ended`;
      case "runtime-lost":
        return `… ${progress.pair} (${progress.variant}): ${progress.reason}; starting workerd again`;
      case "crash-asked":
      case "pair-compared":
      case "pair-unreadable":
      case "run-event":
      case "run-snapshot":
        return undefined;
    }
  }
}
