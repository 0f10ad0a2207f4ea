import type { Difference, Pair, Variant } from "../pair.ts";
import type { CrashReport } from "@durable-lessons/crash-test";

/** One variant of a pair, run. */
export interface VariantResult {
  /** The run's id in the lesson's Worker. */
  run: string;
  /** The final status, or `timed out` with the reason in `error`. */
  status: string;
  error: unknown;
  /** What was seen, over the same kinds as `expected`. */
  evidence: Record<string, unknown>;
  expected: Record<string, unknown>;
  /** What is not as expected. */
  differences: Difference[];
  ok: boolean;
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

/** What happens while pairs are run, as it happens. */
export type Progress =
  | { type: "starting"; lesson: string; pairs: string[] }
  | { type: "ready"; lesson: string; pid: number }
  | { type: "run-started"; lesson: string; pair: string; variant: Variant; run: string }
  | { type: "crash-point"; lesson: string; pair: string; variant: Variant; run: string }
  | ({ type: "crashed"; lesson: string; pairs: string[] } & CrashReport)
  | { type: "run-woken"; lesson: string; pair: string; variant: Variant; run: string; did: string }
  | {
      type: "run-disturbed";
      lesson: string;
      pair: string;
      variant: Variant;
      run: string;
      did: string;
    }
  | { type: "run-ended"; lesson: string; pair: string; variant: Variant; result: VariantResult }
  | { type: "pair-compared"; lesson: string; result: PairResult };

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

/** An effect or an observation, with its time. */
export interface Mark {
  kind: string;
  /** For a message its index. */
  detail: unknown;
  /** Milliseconds since the epoch. */
  at: number;
}

/** How a run stands while it runs. */
export interface RunSnapshot {
  status: string;
  /** What was counted so far, over the kinds that the pair's expectation names. */
  evidence: Record<string, unknown>;
  /** Effects and observations, in their order. */
  marks: Mark[];
}

interface OfRun {
  lesson: string;
  pair: string;
  variant: Variant;
  run: string;
}

/** When the runtime was killed and when it was up again, in milliseconds since the epoch. */
export interface CrashTimes {
  at: number;
  upAt: number;
}

/** What happens while a pair is run in a session: {@link Progress} with what a reader wants to watch. */
export type SessionProgress =
  | Exclude<Progress, { type: "crashed" }>
  | (Extract<Progress, { type: "crashed" }> & CrashTimes)
  /** Somebody asked for the crash; it comes when every run of the lesson is ready for it. */
  | { type: "crash-asked"; lesson: string }
  | ({ type: "run-event"; event: PlatformEvent } & OfRun)
  | ({ type: "run-snapshot"; snapshot: RunSnapshot } & OfRun);
