import type { RunnablePair } from "@durable-lessons/lab/worker";
import plainAsyncFunction from "./plain-async-function/pair.ts";
import sideEffectOutsideStep from "./side-effect-outside-step/pair.ts";
import clockInABranch from "./clock-in-a-branch/pair.ts";
import countingInMemory from "./counting-in-memory/pair.ts";
import clockInAStepName from "./clock-in-a-step-name/pair.ts";
import insertThatCannotRepeat from "./insert-that-cannot-repeat/pair.ts";
import doubleSubmit from "./double-submit/pair.ts";
import payloadChangedInPlace from "./payload-changed-in-place/pair.ts";
import resultThatCannotBeStored from "./result-that-cannot-be-stored/pair.ts";
import renamedWhileRunning from "./renamed-while-running/pair.ts";

/** The pairs of this lesson, in reading order. */
export const pairs: RunnablePair<{ DB: D1Database }>[] = [
  plainAsyncFunction,
  sideEffectOutsideStep,
  clockInABranch,
  countingInMemory,
  clockInAStepName,
  insertThatCannotRepeat,
  doubleSubmit,
  payloadChangedInPlace,
  resultThatCannotBeStored,
  renamedWhileRunning,
];
