import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { within } from "@durable-lessons/crash-test/time-limit";
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

  /** A crash counts when it begins, and when it is over. */
  get #isCrashing(): boolean {
    return this.#crashes % 2 === 1;
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
    await within(ask(), FLUSH_MS, "The runtime does not answer.");
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
    const answer = this.runtime
      .fetch("/pitfalls")
      .then((response) => response.text())
      .then(() => "answered" as const)
      // A request fails where the runtime is killed by us, or has just ended.
      .catch(() => "failed" as const);
    // While it is killed there is no workerd to look at.
    if (this.#isCrashing) return answer;
    const stall = new StallClock(this.runtime.pid, this.#stallMs);
    for (;;) {
      const seen = await Promise.race([answer, delay(LOOK_MS, "waiting" as const)]);
      if (seen !== "waiting") return seen;
      // Nor need it answer what was asked before a crash was over.
      if (crashes !== this.#crashes) return "failed";
      if (stall.isOver) {
        this.readLog();
        this.#lost.resolve(`the runtime did not answer for ${stall.seconds} s`);
        return "lost";
      }
    }
  }
}

/**
 * Tells a runtime that is blocked from one that has no processor: on a machine that has much else to do, an answer may take
 * long. What counts is the time for which workerd computed and did not answer.
 */
class StallClock {
  readonly #pid: number;
  readonly #stallMs: number;
  readonly #started = performance.now();
  readonly #computedBefore: number | null;

  constructor(pid: number, stallMs: number) {
    this.#pid = pid;
    this.#stallMs = stallMs;
    this.#computedBefore = computedMs(pid);
  }

  get isOver(): boolean {
    const waited = performance.now() - this.#started;
    if (waited < this.#stallMs) return false;
    const computed = computedMs(this.#pid);
    if (computed === null || this.#computedBefore === null) return true;
    const hasComputed = computed - this.#computedBefore >= MUST_COMPUTE * this.#stallMs;
    return hasComputed || waited >= AT_MOST * this.#stallMs;
  }

  get seconds(): number {
    return Math.round((performance.now() - this.#started) / 1000);
  }
}

/** The part of the time for which a runtime must have computed to count as blocked: a loop leaves no pause. */
const MUST_COMPUTE = 0.8;
/** How often that time may pass until one that computes nothing counts as blocked, too. */
const AT_MOST = 6;

/** For how long a process has computed, in milliseconds; null where the system does not tell (Linux does, in /proc). */
function computedMs(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // pid (name) state …: the name may hold anything. User and system time are the fields 14 and 15, in hundredths.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return null;
  }
}

const aborted = (signal: AbortSignal) =>
  new Promise<true>((resolve) => {
    if (signal.aborted) resolve(true);
    signal.addEventListener("abort", () => resolve(true), { once: true });
  });
