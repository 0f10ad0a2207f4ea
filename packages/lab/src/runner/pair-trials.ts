import type { Broken } from "@durable-lessons/outside-world/rules";
import { judge, type TrialRun } from "../judge.ts";
import type { Pair, RunLedger, Variant } from "../pair.ts";
import { isLasting, type Trial, trialsOf, trialsOfCompensations, UNDISTURBED } from "../trials.ts";
import type { GauntletProgress } from "./gauntlet.ts";
import type { Lesson } from "./lessons.ts";
import type { Progress } from "./progress.ts";
import type { RunClient } from "./run-client.ts";
import { LessonSession } from "./session.ts";
import { Turns } from "./turns.ts";

/** How many queues a variant has. */
const LANES = 20;
/** How many runs work at once: more of them only wait for each other. */
const AT_ONCE = 24;

/** One side of a pair, and what its trials broke. */
export interface TriedSide {
  pair: Pair;
  variant: Variant;
  trials: { trial: string; broken: Broken[] }[];
}

/**
 * Takes sides of pairs of one lesson through all their trials, on a runtime of its own: first every side undisturbed, then what
 * shows which compensations it has, then all other trials, with one crash for all of them.
 */
export async function tryPairs(
  lesson: Lesson,
  pairs: readonly Pair[],
  variants: readonly Variant[],
  { signal, runTimeoutMs }: { signal: AbortSignal; runTimeoutMs: number },
  emit: (progress: GauntletProgress) => void,
): Promise<TriedSide[]> {
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
  const runTrial = async (pair: Pair, variant: Variant, trial: Trial, lane: number) => {
    const turn = await turns.take();
    const pass = (progress: Progress) => {
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
    const normals = await Promise.all(
      sides.map(async (side) => ({
        ...side,
        normal: await runTrial(side.pair, side.variant, UNDISTURBED, 0),
      })),
    );
    const tell = (count: number) => emit({ type: "trials", lesson: lesson.id, count });
    const first = normals.map((side) => ({
      ...side,
      trials: trialsOf(side.pair, side.normal.ledger),
    }));
    const lasting = first.map((side) => side.trials.filter(isLasting));
    tell(lasting.flat().length);
    const planned = await Promise.all(
      first.map(async ({ trials, ...side }, at) => {
        const runs = await Promise.all(
          (lasting[at] ?? []).map(async (trial, nth) => ({
            trial,
            run: await runTrial(side.pair, side.variant, trial, nth % LANES),
          })),
        );
        const more = trialsOfCompensations(
          runs.map(({ trial, run }) => ({ trial, operations: run.ledger.operations })),
          side.normal.ledger.operations,
        );
        return { ...side, runs, trials: [...trials.filter((one) => !isLasting(one)), ...more] };
      }),
    );
    tell(planned.flatMap(({ trials }) => trials).length);
    // One crash for all: when nothing is left but what waits for it.
    turns.whenAllLeft(() => {
      if (atCrashPoint > 0) session.crash().catch(() => undefined);
    });
    return await Promise.all(
      planned.map(async ({ pair, variant, normal, runs, trials }) => {
        const others = await Promise.all(
          inLanes(trials).map(async ({ trial, lane }) => ({
            trial,
            run: await runTrial(pair, variant, trial, lane),
          })),
        );
        const all = [{ trial: UNDISTURBED, run: normal }, ...runs, ...others].map(
          ({ trial, run }) => ({
            trial: trial.name,
            broken: judge(pair, trial, run, normal.ledger),
          }),
        );
        return { pair, variant, trials: all };
      }),
    );
  } finally {
    await session.close();
  }
}

/**
 * On one queue a batch that hangs stops all that come after it: so a trial that waits for the crash has a queue of its own,
 * and the others share what is left.
 */
function inLanes(trials: readonly Trial[]): { trial: Trial; lane: number }[] {
  const isHanging = ({ disturb }: Trial) => disturb !== undefined && "crash" in disturb;
  const hanging = trials.filter(isHanging);
  const others = trials.filter((trial) => !isHanging(trial));
  const shared = LANES - hanging.length;
  if (shared < 1) throw new Error(`${hanging.length} trials hang, and there are ${LANES} queues.`);
  return [
    ...hanging.map((trial, lane) => ({ trial, lane })),
    ...others.map((trial, nth) => ({ trial, lane: hanging.length + (nth % shared) })),
  ];
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
