import type { RunnablePair } from "@durable-lessons/lab/worker";
import * as plainAsyncFunctionFix from "./plain-async-function/fix.ts";
import plainAsyncFunction from "./plain-async-function/pair.ts";
import * as plainAsyncFunctionPitfall from "./plain-async-function/pitfall.ts";
import * as sideEffectOutsideStepFix from "./side-effect-outside-step/fix.ts";
import sideEffectOutsideStep from "./side-effect-outside-step/pair.ts";
import * as sideEffectOutsideStepPitfall from "./side-effect-outside-step/pitfall.ts";
import * as clockInABranchFix from "./clock-in-a-branch/fix.ts";
import clockInABranch from "./clock-in-a-branch/pair.ts";
import * as clockInABranchPitfall from "./clock-in-a-branch/pitfall.ts";
import * as countingInMemoryFix from "./counting-in-memory/fix.ts";
import countingInMemory from "./counting-in-memory/pair.ts";
import * as countingInMemoryPitfall from "./counting-in-memory/pitfall.ts";
import * as clockInAStepNameFix from "./clock-in-a-step-name/fix.ts";
import clockInAStepName from "./clock-in-a-step-name/pair.ts";
import * as clockInAStepNamePitfall from "./clock-in-a-step-name/pitfall.ts";
import * as insertThatCannotRepeatFix from "./insert-that-cannot-repeat/fix.ts";
import insertThatCannotRepeat from "./insert-that-cannot-repeat/pair.ts";
import * as insertThatCannotRepeatPitfall from "./insert-that-cannot-repeat/pitfall.ts";
import * as doubleSubmitFix from "./double-submit/fix.ts";
import doubleSubmit from "./double-submit/pair.ts";
import * as doubleSubmitPitfall from "./double-submit/pitfall.ts";

/** The pairs of this lesson, in reading order. */
export const pairs: RunnablePair<Env>[] = [
  { ...plainAsyncFunction, pitfall: plainAsyncFunctionPitfall, fix: plainAsyncFunctionFix },
  {
    ...sideEffectOutsideStep,
    pitfall: sideEffectOutsideStepPitfall,
    fix: sideEffectOutsideStepFix,
  },
  { ...clockInABranch, pitfall: clockInABranchPitfall, fix: clockInABranchFix },
  { ...countingInMemory, pitfall: countingInMemoryPitfall, fix: countingInMemoryFix },
  { ...clockInAStepName, pitfall: clockInAStepNamePitfall, fix: clockInAStepNameFix },
  {
    ...insertThatCannotRepeat,
    pitfall: insertThatCannotRepeatPitfall,
    fix: insertThatCannotRepeatFix,
  },
  { ...doubleSubmit, pitfall: doubleSubmitPitfall, fix: doubleSubmitFix },
];
