import type { FaultScript } from "@durable-lessons/outside-world/faults";
import type { Disturbance, Expectation, Pair, Variant } from "./pair.ts";

/** What is done to one run of a variant, and what is expected of it. */
export interface Plan {
  pair: Pair;
  variant: Variant;
  /** What goes wrong outside. */
  faults: FaultScript;
  /** What the lab does to the run, if anything. */
  disturb: Disturbance | undefined;
  expect: Expectation;
  /** Set where it is one of many of the same variant. */
  trial?: TrialSettings;
}

/** A run among others of the same variant, for which nobody waits longer than needed. */
export interface TrialSettings {
  /** Which of the variant's queues it has: on one queue a batch that hangs stops all that come after it. */
  lane: number;
  /** What every wait for an event gets, `times` times (once by default); nothing unless there. */
  answer?: { payload: unknown; times?: number };
}

/** What a pair itself says about one of its variants. */
export const ownPlan = (pair: Pair, variant: Variant): Plan => ({
  pair,
  variant,
  faults: pair.faults ?? {},
  disturb: pair.disturb,
  expect: pair.expect[variant],
});
