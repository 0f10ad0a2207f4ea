import { watch } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { emitKeypressEvents } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../message-of.ts";
import { noteSolved, readProgress, writeProgress } from "../practice-progress.ts";
import { iterate } from "../runner/channel.ts";
import { type Attempt, type AttemptStage, Practice } from "../runner/practice.ts";
import { beginYours, resetYours } from "../runner/yours.ts";
import { colorsFor } from "./colors.ts";
import { hintsAt } from "./hints.ts";
import { type Exercise, nextUnsolved, type PracticeSetting } from "./practice-exercises.ts";
import { attemptBlock, listBlock, STAGES, taskBlock } from "./practice-output.ts";
import { Stop, STOPPED } from "./stop.ts";

/** How long a file must be left alone until it counts as saved: some editors write it twice. */
const QUIET_MS = 30;

/** What happens while one pair is watched. */
type Happening =
  | { type: "key"; key: string }
  | { type: "saved" }
  | { type: "stage"; stage: AttemptStage; soFar: Attempt }
  | { type: "judged"; attempt: Attempt }
  | { type: "failed"; error: unknown };

/**
 * Watches one pair after the other, and judges each as often as it is saved.
 *
 * @returns the exit code
 */
export async function watchPairs(first: Exercise, setting: PracticeSetting): Promise<number> {
  using stop = new Stop(() => process.stderr.write("Stopped.\n"));
  using keys = new Keys();
  let exercise: Exercise | undefined = first;
  while (exercise) {
    const asked = await new WatchedPair(exercise, setting).watch(keys, stop.signal);
    if (asked !== "next") return stop.exitCode ?? asked;
    const progress = await readProgress(setting.progressFile);
    const after: Exercise = exercise;
    exercise = nextUnsolved(setting.exercises, progress, after.name);
  }
  process.stdout.write("There is no other pair that is not solved.\n");
  return 0;
}

/** What is pressed. It waits while nobody takes it: a pair takes seconds to close, and the next one to open. */
class Keys implements Disposable {
  readonly #waiting: string[] = [];
  #taker: ((key: string) => void) | undefined;
  readonly #onKey = (_: unknown, { name = "", ctrl }: { name?: string; ctrl?: boolean }) => {
    const key = ctrl ? `ctrl-${name}` : name;
    this.#waiting.push(key);
    this.#give();
  };

  constructor() {
    emitKeypressEvents(process.stdin);
    process.stdin.on("keypress", this.#onKey).setRawMode(true).resume();
  }

  /** Gives one key to this taker, the first that waits or the next that comes; undefined lets them wait. */
  nextTo(taker: ((key: string) => void) | undefined): void {
    this.#taker = taker;
    this.#give();
  }

  #give(): void {
    const taker = this.#taker;
    const key = taker && this.#waiting.shift();
    if (key === undefined) return;
    this.#taker = undefined;
    taker?.(key);
  }

  [Symbol.dispose](): void {
    process.stdin.off("keypress", this.#onKey).setRawMode(false).pause();
  }
}

/** One pair on the screen. */
class WatchedPair {
  readonly #exercise: Exercise;
  readonly #setting: PracticeSetting;
  readonly #practice: Practice;
  readonly #colors = colorsFor(process.stdout);
  #text = "";
  #running: { stop: AbortController; ended: Promise<void> } | undefined;
  #hints = 0;
  #isAsking = false;

  constructor(exercise: Exercise, setting: PracticeSetting) {
    const { lesson, pair } = exercise;
    this.#exercise = exercise;
    this.#setting = setting;
    this.#practice = new Practice(lesson, pair, { runTimeoutMs: setting.runTimeoutMs });
  }

  /**
   * Judges the file now and whenever it is saved, and does what the keys say.
   *
   * @returns `next`, or the exit code
   */
  async watch(keys: Keys, signal: AbortSignal): Promise<number | "next"> {
    const { lesson, pair, file } = this.#exercise;
    await beginYours(lesson, pair.id);
    let takeKey: () => void = () => undefined;
    const happenings = iterate<Happening>(async (emit, stop) => {
      // One at a time: those after an "n" may be for the next pair.
      takeKey = () => keys.nextTo((key) => emit({ type: "key", key }));
      takeKey();
      const watcher = watch(dirname(file), (_, name) => {
        if (name === basename(file)) emit({ type: "saved" });
      });
      try {
        this.#emit = emit;
        emit({ type: "saved" });
        await new Promise<void>((resolve) =>
          stop.addEventListener("abort", () => resolve(), { once: true }),
        );
      } finally {
        watcher.close();
        keys.nextTo(undefined);
      }
    }, signal);
    try {
      for await (const happening of happenings) {
        const asked = await this.#take(happening);
        if (asked !== undefined) return asked;
        if (happening.type === "key") takeKey();
      }
      return STOPPED.SIGINT;
    } finally {
      this.#running?.stop.abort();
      await this.#running?.ended;
      await this.#practice.close();
    }
  }

  #emit: (happening: Happening) => void = () => undefined;

  async #take(happening: Happening): Promise<number | "next" | undefined> {
    switch (happening.type) {
      case "key":
        return this.#press(happening.key);
      case "saved":
        return this.#judge();
      case "stage":
        this.#print(this.#colors.dim(`  … ${STAGES[happening.stage]}`));
        return undefined;
      case "judged": {
        const { attempt } = happening;
        if (attempt.solved) await noteSolved(this.#setting.progressFile, this.#exercise.name);
        this.#print(`\n${attemptBlock(attempt, this.#colors)}\n\n${this.#keys(attempt.solved)}`);
        return undefined;
      }
      case "failed": {
        this.#print(`\nIt could not be run: ${messageOf(happening.error)}\n\n${this.#keys(false)}`);
        return undefined;
      }
    }
  }

  /** Judges the file, unless nothing has changed. What is still being judged is given up. */
  async #judge(): Promise<undefined> {
    await delay(QUIET_MS);
    const text = await readFile(this.#exercise.file, "utf8").catch(() => null);
    if (text === null || text === this.#text) return;
    this.#text = text;
    this.#running?.stop.abort();
    await this.#running?.ended;
    const stop = new AbortController();
    const { signal } = stop;
    // A screen of its own for each attempt.
    this.#print(`\u001B[2J\u001B[3J\u001B[H${taskBlock(this.#exercise, this.#colors)}`);
    const ended = this.#practice
      .attempt(signal, (stage, soFar) => this.#emit({ type: "stage", stage, soFar }))
      .then(
        (attempt) => this.#emit({ type: "judged", attempt }),
        (error: unknown) => {
          if (!signal.aborted) this.#emit({ type: "failed", error });
        },
      );
    this.#running = { stop, ended };
  }

  async #press(key: string): Promise<number | "next" | undefined> {
    const { lesson, pair, name } = this.#exercise;
    const { progressFile, exercises } = this.#setting;
    if (this.#isAsking) {
      this.#isAsking = false;
      if (key !== "y") {
        this.#print("It stays as it is.");
        return undefined;
      }
      await writeProgress(progressFile, name, null);
      await resetYours(lesson, pair.id);
      return undefined;
    }
    switch (key) {
      case "h": {
        const hints = await hintsAt(lesson, pair);
        const nth = Math.min(this.#hints++, hints.length - 1);
        this.#print(`\n${this.#colors.bold(`Hint ${nth + 1} of ${hints.length}`)}\n${hints[nth]}`);
        return undefined;
      }
      case "l":
        this.#print(`\n${listBlock(exercises, await readProgress(progressFile), this.#colors)}`);
        return undefined;
      case "n":
        return "next";
      case "r":
        this.#isAsking = true;
        this.#print("Reset your file to the pitfall? What you wrote is lost. (y/n)");
        return undefined;
      case "q":
        return 0;
      case "ctrl-c":
        return STOPPED.SIGINT;
      default:
        return undefined;
    }
  }

  #keys(solved: boolean): string {
    const next = solved ? this.#colors.bold("n next") : "n next";
    return this.#colors.dim(`save to try again · h hint · ${next} · r reset · l list · q quit`);
  }

  #print(text: string): void {
    process.stdout.write(`${text}\n`);
  }
}
