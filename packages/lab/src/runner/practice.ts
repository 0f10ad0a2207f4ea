import { RULES } from "@durable-lessons/outside-world/rules";
import { type Pair, YOURS } from "../pair.ts";
import { ownPlan } from "../plan.ts";
import { UNDISTURBED } from "../trials.ts";
import type { Lesson } from "./lessons.ts";
import { type Side, tryPairs } from "./pair-trials.ts";
import type { Tried } from "./phases.ts";
import type { VariantResult } from "./progress.ts";
import { LessonSession } from "./session.ts";
import { TypeChecker, type TypeProblem } from "./type-checker.ts";
import { withYours, yoursOf } from "./yours.ts";

/** A trial that the fix bears and the reader's own attempt does not. */
export interface BrokenTrial {
  /** Its name, as the gauntlet has it. */
  trial: string;
  /** What was seen, and what should have been, in words. */
  saw: string;
}

/** What came of one attempt. */
export interface Attempt {
  /** The evidence is right, and everything is borne that the fix bears. */
  solved: boolean;
  /** What keeps the file from being built: then nothing was run. */
  syntax: TypeProblem[];
  /** What the compiler says beside. It decides nothing: what happened in the outside world does. */
  types: TypeProblem[];
  /** The run, beside what is expected of it. */
  result?: VariantResult;
  /** Once the evidence is right. */
  trials?: { count: number; broken: BrokenTrial[] };
}

/** What an attempt is at. */
export type AttemptStage = "running" | "trials";

/** Settings of a practice. */
export interface PracticeOptions {
  /** How long one run may take, in milliseconds, 30,000 by default. In a trial, among many, it may take a minute at least. */
  runTimeoutMs?: number;
}

/**
 * Judges the reader's own attempt at one pair, as often as somebody asks, on a runtime that stays warm: by the evidence of the
 * fix and, where that is right, by the trials of the gauntlet that the fix bears. Both sides take those on one runtime of its
 * own, with one crash.
 */
export class Practice {
  readonly lesson: Lesson;
  readonly pair: Pair;
  /** Absolute path of the attempt. */
  readonly file: string;
  readonly #runTimeoutMs: number;
  readonly #session: LessonSession;
  readonly #types: TypeChecker;
  #isWarm = false;

  constructor(lesson: Lesson, pair: Pair, { runTimeoutMs = 30_000 }: PracticeOptions = {}) {
    this.lesson = lesson;
    this.pair = withYours(lesson, pair);
    this.file = yoursOf(lesson, pair.id);
    this.#runTimeoutMs = runTimeoutMs;
    this.#session = new LessonSession(lesson, {
      pairs: [this.pair],
      isWatched: false,
      runTimeoutMs,
    });
    this.#types = new TypeChecker(lesson.dir);
  }

  /**
   * Checks, builds and runs what is in the file now. One attempt at a time.
   *
   * @param onStage told what comes next, with what is known so far
   * @throws the reason of `signal` once that is aborted, and what keeps the lesson's Workers from being started
   */
  async attempt(
    signal: AbortSignal,
    onStage: (stage: AttemptStage, soFar: Attempt) => void = () => undefined,
  ): Promise<Attempt> {
    const { syntax, types } = await this.#types.check(this.file);
    signal.throwIfAborted();
    const attempt: Attempt = { solved: false, syntax, types };
    // A build that fails would take the runtime with it.
    if (syntax.length > 0) return attempt;
    onStage("running", attempt);
    attempt.result = await this.#run(signal);
    if (!attempt.result.ok) return attempt;
    onStage("trials", attempt);
    attempt.trials = await this.#tryBoth(signal);
    attempt.solved = attempt.trials.broken.length === 0;
    return attempt;
  }

  /** Ends every process of it. */
  async close(): Promise<void> {
    await Promise.all([this.#session.close(), this.#types.close()]);
  }

  async #run(signal: AbortSignal): Promise<VariantResult> {
    if (this.#isWarm) await this.#session.rebuild();
    signal.throwIfAborted();
    this.#isWarm = true;
    const run = await this.#session.runPlan(ownPlan(this.pair, YOURS), signal, ({ type }) => {
      if (type === "crash-point") this.#session.crash().catch(() => undefined);
    });
    return run.result();
  }

  async #tryBoth(signal: AbortSignal) {
    const limits = { signal, runTimeoutMs: Math.max(this.#runTimeoutMs, 60_000) };
    const [fix, yours] = await tryPairs(
      this.lesson,
      [this.pair],
      ["fix", YOURS],
      limits,
      () => undefined,
    );
    if (!fix || !yours) throw new Error("There are two sides.");
    return compareTrials(fix, yours);
  }
}

/** What of all that the fix bears the other side does not bear. */
export function compareTrials(
  fix: Pick<Tried<Side<"fix">>, "normal" | "trials">,
  yours: Pick<Tried<Side<typeof YOURS>>, "normal" | "trials">,
): { count: number; broken: BrokenTrial[] } {
  const borne = new Set(
    fix.trials.filter(({ broken }) => broken.length === 0).map(({ trial }) => trial),
  );
  const judged = yours.trials.filter(({ trial }) => borne.has(trial));
  const broken = judged.flatMap(({ trial, broken: all }) =>
    all.map(({ rule, saw }) => ({ trial, saw: `${saw} (${RULES[rule]})` })),
  );
  return { count: judged.length, broken: [...undisturbed(fix, yours), ...broken] };
}

/** Where nothing goes wrong, both must do the same: evidence that fits one disturbance alone is none. */
function undisturbed(
  fix: Parameters<typeof compareTrials>[0],
  yours: Parameters<typeof compareTrials>[1],
): BrokenTrial[] {
  const [wanted, seen] = [fix, yours].map(({ normal }) =>
    Object.groupBy(normal.effects, ({ kind }) => kind),
  );
  if (!wanted || !seen) return [];
  const kinds = [
    ...new Set([fix, yours].flatMap(({ normal }) => normal.effects.map(({ kind }) => kind))),
  ];
  return kinds.flatMap((kind) => {
    const [goal, count] = [wanted[kind]?.length ?? 0, seen[kind]?.length ?? 0];
    return goal === count
      ? []
      : [{ trial: UNDISTURBED.name, saw: `${kind}: seen ${count}, expected ${goal}` }];
  });
}
