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
}

/** What a pair itself says about one of its variants. */
export const ownPlan = (pair: Pair, variant: Variant): Plan => ({
  pair,
  variant,
  faults: pair.faults ?? {},
  disturb: pair.disturb,
  expect: pair.expect[variant],
});
