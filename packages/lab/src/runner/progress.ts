import type { Mark } from "@durable-lessons/types";
import type { Difference } from "../evidence.ts";
import type { CrashReport } from "@durable-lessons/crash-test";
import type { AnyVariant, Pair, Variant } from "../pair.ts";

/** What a variant threw, and where. */
export interface ThrownError {
  name: string;
  message: string;
  /** The step whose callback threw it, if it was one. */
  step: string | null;
  /** `apps/01-…/src/pitfalls/…/pitfall.ts:12:5`, where it could be found. */
  at: string | null;
  /** How often the same was thrown at the same place. */
  times: number;
}

/** A line that a variant has written to its console. */
export interface ConsoleLine {
  level: string;
  text: string;
}

/** One variant of a pair, run. */
export interface VariantResult {
  /** The run's id in the lesson's Worker. */
  run: string;
  /**
   * The final status; or `timed out`, `blocked` (it let nothing else run), `failed` (all else that kept it from its end),
   * with the reason in `error`.
   */
  status: string;
  error: unknown;
  /** What was seen, over the same kinds as `expected`. */
  evidence: Record<string, unknown>;
  expected: Record<string, unknown>;
  /** What is not as expected. */
  differences: Difference[];
  ok: boolean;
  /** What its code threw, where something is not as expected. */
  thrown?: ThrownError[];
  /** What its code wrote to the console, where it did. */
  console?: ConsoleLine[];
}

/** A pair, run on both sides. */
export interface PairResult {
  lesson: string;
  pair: Pair;
  variants: Record<Variant, VariantResult>;
  /** Both sides are as expected. */
  ok: boolean;
  /** From the start of the first variant to the end of the second. Noisy: for a person's sense of it only. */
  ms: number;
}

/** A pair that cannot be run, since its `pair.ts` cannot be read. */
export interface UnreadablePair {
  lesson: string;
  /** The name of its folder. */
  pair: string;
  /** With the file and, where there is one, the line. */
  message: string;
}

/** An event of a Workflow instance, as the platform's `instance.subscribe()` tells it; the fields that the lab reads. */
export interface PlatformEvent {
  instanceId: string;
  eventId: number;
  /** Milliseconds since the epoch. */
  timestamp: number;
  type: string;
  /** The step's name and its count, such as `send mail-1`. */
  stepName?: string;
  attempt?: number;
  /** The type of event that a wait waits for. */
  eventType?: string;
  /** How long the platform waits before the next attempt. */
  retryDelayMs?: number;
  error?: { name: string; message: string };
}

/** How a run stands while it runs. */
export interface RunSnapshot {
  status: string;
  /** What was counted so far, over the kinds that the pair's expectation names. */
  evidence: Record<string, unknown>;
  /** Effects and observations, in their order. */
  marks: Mark[];
}

/** When the runtime was killed and when it was up again, in milliseconds since the epoch. */
export interface CrashTimes {
  at: number;
  upAt: number;
}

/** Names one run. */
interface OfRun<V extends AnyVariant> {
  lesson: string;
  pair: string;
  variant: V;
  run: string;
}

/** What happens while pairs of a lesson are run, as it happens. */
export type Progress<V extends AnyVariant = Variant> =
  | { type: "starting"; lesson: string; pairs: string[] }
  | { type: "ready"; lesson: string; pid: number }
  /** Also where a run is started anew, in the place of an earlier one. */
  | ({ type: "run-started" } & OfRun<V>)
  | ({ type: "crash-point" } & OfRun<V>)
  /** Somebody asked for the crash; it comes when every run of the lesson is ready for it. */
  | { type: "crash-asked"; lesson: string }
  | ({ type: "crashed"; lesson: string; pairs: string[] } & CrashReport & CrashTimes)
  | ({ type: "run-woken"; did: string } & OfRun<V>)
  | ({ type: "run-disturbed"; did: string } & OfRun<V>)
  /** The runtime does not answer, or has ended by itself. It is started anew; the run named is looked at alone, later. */
  | ({ type: "runtime-lost"; reason: string } & OfRun<V>)
  /** Where somebody watches: an event of the platform, and how a run stands. */
  | ({ type: "run-event"; event: PlatformEvent } & OfRun<V>)
  | ({ type: "run-snapshot"; snapshot: RunSnapshot } & OfRun<V>)
  | { type: "run-ended"; lesson: string; pair: string; variant: V; result: VariantResult }
  | { type: "pair-compared"; lesson: string; result: PairResult }
  | ({ type: "pair-unreadable" } & UnreadablePair);
