import type { Broken } from "@durable-lessons/outside-world/rules";
import type { AnyVariant, Exception, Pair, Variant } from "../pair.ts";
import { iterate, linkAbort } from "./channel.ts";
import { readFlows, tryFlows } from "./flows.ts";
import type { Selection } from "./lessons.ts";
import { tryPairs } from "./pair-trials.ts";
import type { Progress } from "./progress.ts";
import { nameInRepository } from "./read-lesson.ts";
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
  | Extract<Progress<AnyVariant>, { type: "crashed" | "pair-unreadable" | "runtime-lost" }>
  | { type: "starting"; lesson: string; variants: number }
  | { type: "trials"; lesson: string; count: number }
  | { type: "trial-ended"; lesson: string; pair: string; variant: AnyVariant; trial: string }
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

/** How many lessons, or their own code, are tried at once: each has a workerd, which computes on one processor. */
const LESSONS_AT_ONCE = 2;

/**
 * Takes variants through all their trials, and the lessons' own code where a lesson was asked for and not one of its pairs:
 * see {@link tryPairs} and {@link tryFlows}.
 *
 * @returns an async iterator of what happens as it happens, in several lessons at once; with one `pair-judged` for each
 *   pair and one `flow-judged` for each flow, in the order of the lessons; leaving it early ends every process
 */
export function runGauntlet(
  selections: readonly Selection[],
  { signal: outer, variants = ["fix"], runTimeoutMs = 60_000 }: GauntletOptions = {},
): AsyncGenerator<GauntletProgress, void, void> {
  return iterate(async (emit, stop) => {
    const ended = new AbortController();
    const unlink = linkAbort(stop, ended);
    const { signal } = ended;
    const limits = { signal, runTimeoutMs };
    const turns = new Turns(LESSONS_AT_ONCE);
    const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
      const turn = await turns.take();
      try {
        signal.throwIfAborted();
        return await work();
      } finally {
        turn.leave();
      }
    };
    const started = selections.map((selection) => {
      const { lesson, pairs } = selection;
      const isWhole = pairs.length === lesson.pairs.length;
      return {
        ...selection,
        sides: inTurn(async () => {
          if (pairs.length === 0) return [];
          emit({ type: "starting", lesson: lesson.id, variants: pairs.length * variants.length });
          return tryPairs(lesson, pairs, variants, limits, emit);
        }),
        flows: inTurn(async () => {
          const flows = isWhole ? await readFlows(lesson) : null;
          return flows === null
            ? []
            : tryFlows(lesson, flows, limits, (what) =>
                emit({ type: "flow-trial-ended", lesson: lesson.id, ...what }),
              );
        }),
      };
    });
    const all = Promise.allSettled(started.flatMap(({ sides, flows }) => [sides, flows]));
    try {
      for (const { lesson, pairs, broken, sides, flows } of started) {
        for (const { pair, file, line = 1, message } of broken) {
          const at = `${nameInRepository(lesson, file)}:${line}`;
          emit({ type: "pair-unreadable", lesson: lesson.id, pair, message: `${at}: ${message}` });
        }
        const tried = await sides;
        for (const pair of pairs) {
          const results = tried
            .filter(({ subject }) => subject.pair === pair)
            .map(({ subject, trials }) => resultOf(lesson.id, pair, subject.variant, trials));
          emit({ type: "pair-judged", results });
        }
        for (const { subject, trials } of await flows) {
          const { name, exceptions = [] } = subject;
          const result = { lesson: lesson.id, flow: name, ...withExceptions(trials, exceptions) };
          emit({ type: "flow-judged", result });
        }
      }
    } catch (error) {
      ended.abort(error);
      throw error;
    } finally {
      // Every process has ended before this has.
      await all;
      unlink();
    }
  }, outer);
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
