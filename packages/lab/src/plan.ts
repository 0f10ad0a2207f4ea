import type { Fault, FaultScript, Operation } from "@durable-lessons/outside-world/faults";
import {
  type AnyVariant,
  type Crash,
  type Disturbance,
  type Expectation,
  type Pair,
  YOURS,
} from "./pair.ts";

/** What is done to one run of a variant, and what is expected of it. */
export interface Plan {
  pair: Pair;
  variant: AnyVariant;
  /** What goes wrong outside. */
  faults: FaultScript;
  /** What the lab does to the run, if anything. */
  disturb: Disturbance | undefined;
  expect: Expectation;
  /** What is as good as that. */
  orElse?: readonly Expectation[] | undefined;
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

/**
 * What a pair itself says about one of its variants. The reader's own attempt is expected to do what the fix does; its steps
 * may have other names, so that its crash waits for the call that hangs.
 */
export function ownPlan(pair: Pair, variant: AnyVariant): Plan {
  const { faults = {}, disturb, expect } = pair;
  if (variant !== YOURS) return { pair, variant, faults, disturb, expect: expect[variant] };
  return {
    pair,
    variant,
    faults,
    disturb: disturb && "crash" in disturb ? atTheCall(disturb, faults) : disturb,
    expect: expect.fix,
    orElse: expect.solved,
  };
}

function atTheCall(disturb: Crash, faults: FaultScript): Crash {
  const [call] = Object.entries(faults)
    .filter(([, script]) => Array.isArray(script) && script.some(isHang))
    .map(([operation]) => operation as Operation);
  return call ? { ...disturb, crash: { call } } : disturb;
}

const isHang = (fault: Fault) => fault === "hang" || fault === "hang-after-effect";
