import { messageOf } from "../message-of.ts";
import { type Pair, VARIANTS } from "../pair.ts";
import { ownPlan } from "../plan.ts";
import { iterate } from "./channel.ts";
import type { Selection } from "./lessons.ts";
import type { PairResult, Progress, VariantResult } from "./progress.ts";
import { nameInRepository } from "./read-lesson.ts";
import { LessonSession } from "./session.ts";

/** Settings of a comparison. */
export interface CompareOptions {
  /** Ends the work and every process of it; the iterator then throws the signal's reason. */
  signal?: AbortSignal;
  /**
   * How long one run may take to its end, or to its crash point and from there to its end, 120,000 by default. Reaching
   * it is a failed pair.
   */
  runTimeoutMs?: number;
  /** How long a runtime may compute without an answer to anything, 10,000 by default: see `SessionOptions`. */
  stallMs?: number;
}

/**
 * Runs pairs: for each lesson a runtime of its own on fresh storage, both variants of every pair at once, one crash
 * for all of them. Lessons follow each other; one that cannot be started does not keep the next ones from it.
 *
 * @returns an async iterator of what happens, with one `pair-compared` for each pair, those of a lesson in their order;
 *   leaving it early ends every process
 */
export function comparePairs(
  selections: readonly Selection[],
  options: CompareOptions = {},
): AsyncGenerator<Progress, void, void> {
  const { signal: outer, ...limits } = options;
  return iterate(async (emit, signal) => {
    for (const { lesson, pairs, broken } of selections) {
      signal.throwIfAborted();
      emit({ type: "starting", lesson: lesson.id, pairs: pairs.map(({ id }) => id) });
      for (const { pair, file, line = 1, message } of broken) {
        const at = `${nameInRepository(lesson, file)}:${line}`;
        emit({ type: "pair-unreadable", lesson: lesson.id, pair, message: `${at}: ${message}` });
      }
      if (pairs.length === 0) continue;
      const session = new LessonSession(lesson, { pairs, isWatched: false, ...limits });
      try {
        const told = new Set<string>();
        const results = await Promise.all(
          pairs.map((pair) => compareOne(session, pair, signal, once(emit, told))),
        );
        for (const result of results) {
          emit({ type: "pair-compared", lesson: lesson.id, result });
        }
      } finally {
        await session.close();
      }
    }
  }, outer);
}

/** Runs one pair, and asks for the crash when it is ready for it: the session waits until all are. */
async function compareOne(
  session: LessonSession,
  pair: Pair,
  signal: AbortSignal,
  emit: (progress: Progress) => void,
): Promise<PairResult> {
  try {
    for await (const progress of session.run(pair, signal)) {
      if (progress.type === "pair-compared") return progress.result;
      emit(progress);
      // A crash that fails is the failure of those that wait for it.
      if (progress.type === "crash-point") session.crash().catch(() => undefined);
    }
    throw new Error("was not compared");
  } catch (error) {
    signal.throwIfAborted();
    return notStarted(session.lesson.id, pair, error);
  }
}

/** Passes on what concerns the whole lesson only once, though every pair tells of it. */
function once(emit: (progress: Progress) => void, told: Set<string>) {
  return (progress: Progress) => {
    if (progress.type === "starting" || progress.type === "crash-asked") return;
    if (progress.type === "ready" || progress.type === "crashed") {
      const name = `${progress.type} ${progress.type === "ready" ? progress.pid : progress.pidAfter}`;
      if (told.has(name)) return;
      told.add(name);
    }
    emit(progress);
  };
}

/** The result of a pair whose lesson could not be started. */
function notStarted(lesson: string, pair: Pair, error: unknown): PairResult {
  const message = messageOf(error);
  const [pitfall, fix] = VARIANTS.map((variant): VariantResult => {
    const { status = "complete", ...expected } = ownPlan(pair, variant).expect;
    return {
      run: "",
      status: "failed",
      error: message,
      evidence: {},
      expected,
      differences: [{ kind: "status", expected: status, seen: "failed" }],
      ok: false,
    };
  });
  if (!pitfall || !fix) throw new Error("A pair has two variants.");
  return { lesson, pair, variants: { pitfall, fix }, ok: false, ms: 0 };
}
