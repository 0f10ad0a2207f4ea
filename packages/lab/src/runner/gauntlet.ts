import { dirname, relative } from "node:path";
import type { Broken } from "@durable-lessons/outside-world/rules";
import { judge, type TrialRun } from "../judge.ts";
import type { Exception, Pair, RunLedger, Variant } from "../pair.ts";
import { isLasting, type Trial, trialsOf, trialsOfCompensations, UNDISTURBED } from "../trials.ts";
import { iterate } from "./channel.ts";
import { readFlows, tryFlows } from "./flows.ts";
import type { Selection } from "./lessons.ts";
import type { Progress } from "./progress.ts";
import type { RunClient } from "./run-client.ts";
import { LessonSession } from "./session.ts";
import { Turns } from "./turns.ts";

/** What came of one trial of one variant. */
export interface TrialResult {
  trial: string;
  /** The rules that it broke; nothing: it bears the trial. */
  broken: Broken[];
  /** The exception that says so. */
  exception?: Exception;
}

/** All trials of one variant. */
export interface GauntletResult {
  lesson: string;
  pair: Pair;
  variant: Variant;
  trials: TrialResult[];
  /** Exceptions of the fix that were not seen. */
  stale: Exception[];
  /** Nothing broke but what the pair says. A pitfall need not bear anything. */
  ok: boolean;
}

/** All trials of one thing that a lesson's own code does. */
export interface FlowResult {
  lesson: string;
  /** Its name: "an order". */
  flow: string;
  trials: TrialResult[];
  stale: Exception[];
  ok: boolean;
}

/** What happens while the gauntlet is run. */
export type GauntletProgress =
  | Extract<Progress, { type: "crashed" | "pair-unreadable" | "runtime-lost" }>
  | { type: "starting"; lesson: string; variants: number }
  | { type: "trials"; lesson: string; count: number }
  | { type: "trial-ended"; lesson: string; pair: string; variant: Variant; trial: string }
  | { type: "flow-trial-ended"; lesson: string; flow: string; trial: string }
  | { type: "flow-judged"; result: FlowResult }
  /** The sides of a pair that were tried. */
  | { type: "pair-judged"; results: GauntletResult[] };

/** Settings of the gauntlet. */
export interface GauntletOptions {
  /** Ends the work and every process of it; the iterator then throws the signal's reason. */
  signal?: AbortSignal;
  /** The sides to try, the fix by default. */
  variants?: readonly Variant[];
  /** How long one run may take, in milliseconds, 60,000 by default. */
  runTimeoutMs?: number;
}

/** How many queues a variant has. */
const LANES = 20;
/** How many runs work at once: more of them only wait for each other. */
const AT_ONCE = 24;

/**
 * Takes variants through all their trials: for each lesson a runtime of its own, first every variant undisturbed, then
 * what shows which compensations it has, then all other trials, with one crash for all of them.
 *
 * @returns an async iterator of what happens, with one `pair-judged` for each pair; leaving it early ends every process
 */
export function runGauntlet(
  selections: readonly Selection[],
  { signal: outer, variants = ["fix"], runTimeoutMs = 60_000 }: GauntletOptions = {},
): AsyncGenerator<GauntletProgress, void, void> {
  return iterate(async (emit, signal) => {
    for (const { lesson, pairs, broken } of selections) {
      signal.throwIfAborted();
      for (const { pair, file, line = 1, message } of broken) {
        const at = `${relative(dirname(dirname(lesson.dir)), file)}:${line}`;
        emit({ type: "pair-unreadable", lesson: lesson.id, pair, message: `${at}: ${message}` });
      }
      if (pairs.length === 0) continue;
      const sides = pairs.flatMap((pair) => variants.map((variant) => ({ pair, variant })));
      emit({ type: "starting", lesson: lesson.id, variants: sides.length });
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
        const results = await Promise.all(
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
            return resultOf(lesson.id, pair, variant, all);
          }),
        );
        for (const pair of pairs) {
          emit({ type: "pair-judged", results: results.filter((result) => result.pair === pair) });
        }
      } finally {
        await session.close();
      }
      // The lesson's own code, where the lesson was asked for and not one of its pairs.
      const flows = pairs.length === lesson.pairs.length ? await readFlows(lesson) : null;
      if (!flows) continue;
      const tried = await tryFlows(lesson, flows, { signal, runTimeoutMs }, (what) =>
        emit({ type: "flow-trial-ended", lesson: lesson.id, ...what }),
      );
      for (const [{ name, exceptions = [] }, all] of tried) {
        const judged = all.map(({ trial, broken: found }) => ({
          trial: trial.name,
          broken: found,
        }));
        const result = { lesson: lesson.id, flow: name, ...withExceptions(judged, exceptions) };
        emit({ type: "flow-judged", result });
      }
    }
  }, outer);
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
  const none = { effects: [], operations: [], awaited: [], kept: 0, messages: 0 };
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

type Judged = Pick<TrialResult, "broken" | "trial">;

function resultOf(
  lesson: string,
  pair: Pair,
  variant: Variant,
  all: readonly Judged[],
): GauntletResult {
  const judged = withExceptions(all, variant === "fix" ? (pair.exceptions ?? []) : []);
  return { lesson, pair, variant, ...judged, ok: variant === "pitfall" || judged.ok };
}

/** Which trials broke what somebody says that they do, and what is said and not seen. */
function withExceptions(all: readonly Judged[], exceptions: readonly Exception[]) {
  const isFor = (exception: Exception, { trial, broken }: Judged) =>
    exception.trial === trial && broken.some(({ rule }) => rule === exception.breaks);
  const trials = all.map((one): TrialResult => {
    const exception = exceptions.find((candidate) => isFor(candidate, one));
    return exception ? { ...one, exception } : one;
  });
  const stale = exceptions.filter((exception) => !all.some((one) => isFor(exception, one)));
  const isTold = ({ broken, exception }: TrialResult) =>
    broken.every(({ rule }) => rule === exception?.breaks);
  return { trials, stale, ok: stale.length === 0 && trials.every(isTold) };
}
