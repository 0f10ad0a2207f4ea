import { judge, type TrialRun } from "../judge.ts";
import type { AnyVariant, Pair, RunLedger } from "../pair.ts";
import { type Trial, trialsOf, UNDISTURBED } from "../trials.ts";
import type { GauntletProgress } from "./gauntlet.ts";
import type { Lesson } from "./lessons.ts";
import { inPhases, type Tried } from "./phases.ts";
import type { Progress } from "./progress.ts";
import type { RunClient } from "./run-client.ts";
import { LessonSession } from "./session.ts";
import { Turns } from "./turns.ts";

/** How many queues a variant has. */
const LANES = 20;
/** How many runs work at once: more of them only wait for each other. */
const AT_ONCE = 24;

/** One side of a pair. */
export interface Side<V extends AnyVariant> {
  pair: Pair;
  variant: V;
}

/**
 * Takes sides of pairs of one lesson through all their trials, on a runtime of its own, with one crash for all of
 * them: see {@link inPhases}.
 */
export async function tryPairs<V extends AnyVariant>(
  lesson: Lesson,
  pairs: readonly Pair[],
  variants: readonly V[],
  { signal, runTimeoutMs }: { signal: AbortSignal; runTimeoutMs: number },
  emit: (progress: GauntletProgress) => void,
): Promise<Tried<Side<V>>[]> {
  const sides = pairs.flatMap((pair) => variants.map((variant) => ({ pair, variant })));
  const session = new LessonSession(lesson, {
    pairs,
    isWatched: false,
    isQuick: true,
    lanes: Object.fromEntries(variants.map((variant) => [variant, LANES])),
    runTimeoutMs,
    // They wait for all the others.
    crashPointTimeoutMs: 600_000,
    stallMs: 30_000,
  });
  const turns = new Turns(AT_ONCE);
  const told = new Set<number>();
  let atCrashPoint = 0;
  const runTrial = async (pair: Pair, variant: V, trial: Trial, lane: number) => {
    const turn = await turns.take();
    const pass = (progress: Progress<AnyVariant>) => {
      if (progress.type === "crash-point") {
        atCrashPoint += 1;
        turn.leave();
      }
      if (progress.type === "runtime-lost") emit(progress);
      if (progress.type === "crashed" && !told.has(progress.pidAfter)) {
        told.add(progress.pidAfter);
        emit(progress);
      }
    };
    const plan = {
      pair,
      variant,
      faults: trial.faults,
      disturb: trial.disturb,
      expect: {},
      trial: { lane, ...(trial.answer ? { answer: trial.answer } : {}) },
    };
    const run = await session.runPlan(plan, signal, pass).finally(turn.leave);
    emit({ type: "trial-ended", lesson: lesson.id, pair: pair.id, variant, trial: trial.name });
    return ended(run);
  };
  try {
    // One crash for all: when nothing is left but what waits for it.
    turns.whenAllLeft(() => {
      if (atCrashPoint > 0) session.crash().catch(() => undefined);
    });
    return await inPhases({
      subjects: sides,
      trialsOf: ({ pair }, normal) => trialsOf(pair, normal),
      attempt: ({ pair, variant }, trials) =>
        Promise.all(
          lanesOf(trials).map((lane, nth) =>
            runTrial(pair, variant, trials[nth] ?? UNDISTURBED, lane),
          ),
        ),
      judge: ({ pair }, ...trial) => judge(pair, ...trial),
      announce: (count) => emit({ type: "trials", lesson: lesson.id, count }),
    });
  } finally {
    await session.close();
  }
}

/**
 * On one queue a batch that hangs stops all that come after it: so a trial that waits for the crash has a queue of its own,
 * and the others share what is left.
 */
function lanesOf(trials: readonly Trial[]): number[] {
  const isHanging = ({ disturb }: Trial) => disturb !== undefined && "crash" in disturb;
  const hanging = trials.filter(isHanging).length;
  const shared = LANES - hanging;
  if (shared < 1) throw new Error(`${hanging} trials hang, and there are ${LANES} queues.`);
  let [own, others] = [0, 0];
  return trials.map((trial) => (isHanging(trial) ? own++ : hanging + (others++ % shared)));
}

function ended(run: RunClient): TrialRun {
  const { id, report, failure, ledger } = run;
  const none = { effects: [], operations: [], awaited: [], kept: 0 };
  return {
    run: id,
    failure: failure?.message,
    report: {
      status: "unknown",
      output: null,
      error: null,
      observations: {},
      ...report,
      ...(failure && failure.status !== "failed" ? { status: failure.status } : {}),
    },
    ledger: ledger ?? (none satisfies RunLedger),
  };
}
