import { type Pair, type Variant, VARIANTS } from "../pair.ts";
import { emitted } from "./channel.ts";
import type { Selection } from "./lessons.ts";
import type { PairResult, Progress } from "./progress.ts";
import { pairResult, RunClient } from "./run-client.ts";
import type { LessonRuntime } from "./runtime.ts";

/** Settings of a comparison. */
export interface CompareOptions {
  /** Ends the work and every process of it; the iterator then throws the signal's reason. */
  signal?: AbortSignal;
  /**
   * How long one run may take to its end, or to its crash point and from there to its end, 120,000 by default. Reaching
   * it is a failed pair.
   */
  runTimeoutMs?: number;
}

/**
 * Runs pairs: for each lesson a runtime of its own on fresh storage, both variants of every pair at once, one crash
 * for all of them. Lessons follow each other.
 *
 * @returns an async iterator of what happens; leaving it early ends every process
 */
export function comparePairs(
  selections: readonly Selection[],
  options: CompareOptions = {},
): AsyncGenerator<Progress, void, void> {
  return emitted(async (emit, signal) => {
    // Brings wrangler with it, which takes most of a second to load: not for a call that runs nothing.
    const { LessonRuntime } = await import("./runtime.ts");
    for (const { lesson, pairs } of selections) {
      signal.throwIfAborted();
      emit({ type: "starting", lesson: lesson.id, pairs: pairs.map(({ id }) => id) });
      const runtime = await LessonRuntime.start(lesson.dir);
      try {
        signal.throwIfAborted();
        emit({ type: "ready", lesson: lesson.id, pid: runtime.pid });
        await compareOn(runtime, lesson.id, pairs, emit, { ...options, signal });
      } finally {
        await runtime.close();
      }
    }
  }, options.signal);
}

/**
 * Runs pairs of one lesson on a runtime that is up.
 *
 * @param emit gets what happens, ending with one `pair-compared` for each pair
 * @throws the reason of `options.signal` once that is aborted
 */
export async function compareOn(
  runtime: LessonRuntime,
  lesson: string,
  pairs: readonly Pair[],
  emit: (progress: Progress) => void,
  options: CompareOptions = {},
): Promise<void> {
  const { runTimeoutMs = 120_000 } = options;
  const { signal } = options;
  const runs = pairs.flatMap((pair) =>
    VARIANTS.map((variant) => new RunClient(runtime, pair, variant, { signal })),
  );
  const start = async (run: RunClient) => {
    await run.start();
    emit({ type: "run-started", ...run.names(lesson) });
  };
  await Promise.all(runs.map((run) => run.settle(() => start(run), runTimeoutMs)));

  // A run that wants no crash must be over before the one that all the others share.
  const calm = runs.filter((run) => !run.crash);
  const doomed = runs.filter((run) => run.crash);
  await Promise.all([
    ...calm.map(async (run) => {
      await run.settle(async () => {
        const did = await run.disturb();
        if (did) emit({ type: "run-disturbed", ...run.names(lesson), did });
        return run.untilOver(otherSide(run, runs));
      }, runTimeoutMs);
      run.isFinished = true;
      emit({ type: "run-ended", ...run.names(lesson), result: run.result() });
    }),
    ...doomed.map(async (run) => {
      await run.settle(async () => {
        await run.untilCrashPoint();
        while (run.isLate) {
          await start(run);
          await run.untilCrashPoint();
        }
      }, runTimeoutMs);
      if (!run.failure) emit({ type: "crash-point", ...run.names(lesson) });
    }),
  ]);

  const ready = doomed.filter((run) => !run.failure);
  if (ready.length > 0) {
    const report = await runtime.crash();
    const names = new Set(ready.map(({ pair }) => pair.id));
    emit({ type: "crashed", lesson, pairs: [...names], ...report });
  }
  await Promise.all(
    doomed.map(async (run) => {
      await run.settle(async () => {
        const did = await run.wake();
        emit({ type: "run-woken", ...run.names(lesson), did });
        return run.untilOver(otherSide(run, runs));
      }, runTimeoutMs);
      run.isFinished = true;
      emit({ type: "run-ended", ...run.names(lesson), result: run.result() });
    }),
  );

  for (const pair of pairs) {
    emit({ type: "pair-compared", lesson, result: resultOf(lesson, pair, runs) });
  }
}

const otherSide = ({ pair, variant }: RunClient, runs: RunClient[]): RunClient =>
  sideOf(runs, pair, variant === "pitfall" ? "fix" : "pitfall");

function resultOf(lesson: string, pair: Pair, runs: RunClient[]): PairResult {
  return pairResult(lesson, sideOf(runs, pair, "pitfall"), sideOf(runs, pair, "fix"));
}

function sideOf(runs: RunClient[], pair: Pair, variant: Variant): RunClient {
  const run = runs.find((candidate) => candidate.pair === pair && candidate.variant === variant);
  if (!run) throw new Error(`The ${variant} of "${pair.id}" was not run.`);
  return run;
}
