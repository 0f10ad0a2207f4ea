import type { RunnablePair } from "@durable-lessons/lab/worker";
import * as oneStepForTheWholeRunFix from "./one-step-for-the-whole-run/fix.ts";
import oneStepForTheWholeRun from "./one-step-for-the-whole-run/pair.ts";
import * as oneStepForTheWholeRunPitfall from "./one-step-for-the-whole-run/pitfall.ts";
import * as wholeFileAsStepResultFix from "./whole-file-as-step-result/fix.ts";
import wholeFileAsStepResult from "./whole-file-as-step-result/pair.ts";
import * as wholeFileAsStepResultPitfall from "./whole-file-as-step-result/pitfall.ts";
import * as stepNameFromLoopIndexFix from "./step-name-from-loop-index/fix.ts";
import stepNameFromLoopIndex from "./step-name-from-loop-index/pair.ts";
import * as stepNameFromLoopIndexPitfall from "./step-name-from-loop-index/pitfall.ts";
import * as loadThatCannotRepeatFix from "./load-that-cannot-repeat/fix.ts";
import loadThatCannotRepeat from "./load-that-cannot-repeat/pair.ts";
import * as loadThatCannotRepeatPitfall from "./load-that-cannot-repeat/pitfall.ts";
import * as cronIdFromNowFix from "./cron-id-from-now/fix.ts";
import cronIdFromNow from "./cron-id-from-now/pair.ts";
import * as cronIdFromNowPitfall from "./cron-id-from-now/pitfall.ts";

/** The pairs of this lesson, in reading order. */
export const pairs: RunnablePair<Env>[] = [
  {
    ...oneStepForTheWholeRun,
    pitfall: oneStepForTheWholeRunPitfall,
    fix: oneStepForTheWholeRunFix,
  },
  {
    ...wholeFileAsStepResult,
    pitfall: wholeFileAsStepResultPitfall,
    fix: wholeFileAsStepResultFix,
  },
  {
    ...stepNameFromLoopIndex,
    pitfall: stepNameFromLoopIndexPitfall,
    fix: stepNameFromLoopIndexFix,
  },
  { ...loadThatCannotRepeat, pitfall: loadThatCannotRepeatPitfall, fix: loadThatCannotRepeatFix },
  { ...cronIdFromNow, pitfall: cronIdFromNowPitfall, fix: cronIdFromNowFix },
];
