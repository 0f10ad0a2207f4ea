import { setTimeout as delay } from "node:timers/promises";
import { TimeLimitError, within } from "@durable-lessons/crash-test/time-limit";
import { readRunLog, type RunLogEntry } from "../run-log.ts";
import type { LessonRuntime } from "./runtime.ts";

/** How often the runtime is asked whether it answers, and what was written. */
const LOOK_MS = 250;
/** How long a line that the Worker was asked for may be on its way. */
const FLUSH_MS = 5000;

/**
 * Watches a runtime: does it answer, and what do the variants write? One thread runs all code of a runtime, so one variant
 * that never awaits stops all.
 */
export class RuntimeWatch {
  readonly runtime: LessonRuntime;
  readonly #stallMs: number;
  readonly #onEntry: (entry: RunLogEntry & { level: string }) => void;
  readonly #lost = Promise.withResolvers<string>();
  readonly #stopped = new AbortController();
  readonly #loop: Promise<void>;
  #crashes = 0;
  /** The runs whose code has run, the latest one last. */
  readonly #entered = new Set<string>();
  readonly #flushed = new Set<string>();

  constructor(
    runtime: LessonRuntime,
    stallMs: number,
    onEntry: (entry: RunLogEntry & { level: string }) => void,
  ) {
    this.runtime = runtime;
    this.#stallMs = stallMs;
    this.#onEntry = onEntry;
    void runtime.lost.then((how) => this.#lost.resolve(`workerd ${how}`));
    this.#loop = this.#watch();
  }

  /** Resolves, with the reason, once the runtime does not answer any more. Never rejects. */
  get lost(): Promise<string> {
    return this.#lost.promise;
  }

  /** The runs whose code has run, the latest one first. */
  get entered(): string[] {
    return [...this.#entered].toReversed();
  }

  /** Is the runtime there? Waits until it answers, or until it is known to be lost. */
  async isAlive(): Promise<boolean> {
    for (;;) {
      const lost = this.#lost.promise.then(() => "lost" as const);
      const answer = await Promise.race([this.#ping(), lost]);
      if (answer !== "failed") return answer === "answered";
      await delay(LOOK_MS);
    }
  }

  /** Does something that the runtime does not survive: it need not answer meanwhile. */
  async duringCrash<T>(work: () => Promise<T>): Promise<T> {
    // What is in the log has places in a bundle that is replaced.
    this.readLog();
    this.#crashes += 1;
    try {
      return await work();
    } finally {
      // Nor need it have answered what was asked before it was up again.
      this.#crashes += 1;
    }
  }

  /** Takes up what was written until now. */
  readLog(): void {
    for (const { level, message } of this.runtime.takeLogs()) {
      const entry = readRunLog(message);
      if (!entry) continue;
      if (entry.kind === "entered") {
        this.#entered.delete(entry.run);
        this.#entered.add(entry.run);
      } else if (entry.kind === "flushed") {
        this.#flushed.add(entry.run);
      } else {
        this.#onEntry({ ...entry, level });
      }
    }
  }

  /** Waits until everything that a run has written so far was taken up. */
  async flush(run: string, ask: () => Promise<void>): Promise<void> {
    await ask();
    const deadline = performance.now() + FLUSH_MS;
    for (;;) {
      this.readLog();
      if (this.#flushed.delete(run) || performance.now() > deadline) return;
      await delay(5);
    }
  }

  /** Ends the watch. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      this.readLog();
      const answer = await Promise.race([this.#ping(), aborted(signal)]);
      if (answer === "lost") return;
      await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Asks for something that needs nothing but a moment of the runtime's thread. */
  async #ping(): Promise<"answered" | "failed" | "lost"> {
    const crashes = this.#crashes;
    const answer = this.runtime.fetch("/pitfalls").then((response) => response.text());
    try {
      await within(answer, this.#stallMs, "");
      return "answered";
    } catch (error) {
      // A request fails for other reasons, too: the runtime is killed by us, or has just ended.
      if (!(error instanceof TimeLimitError) || crashes !== this.#crashes) return "failed";
      this.readLog();
      this.#lost.resolve(`the runtime did not answer for ${this.#stallMs} ms`);
      return "lost";
    }
  }
}

const aborted = (signal: AbortSignal) =>
  new Promise<true>((resolve) => {
    if (signal.aborted) resolve(true);
    signal.addEventListener("abort", () => resolve(true), { once: true });
  });
