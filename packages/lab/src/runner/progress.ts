import type { Difference, Pair, Variant } from "../pair.ts";
import type { CrashReport } from "./runtime.ts";

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
