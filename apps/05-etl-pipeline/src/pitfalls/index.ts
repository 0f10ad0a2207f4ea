import type { RunnablePair } from "@durable-lessons/lab/worker";
import oneStepForTheWholeRun from "./one-step-for-the-whole-run/pair.ts";
import wholeFileAsStepResult from "./whole-file-as-step-result/pair.ts";
import stepNameFromLoopIndex from "./step-name-from-loop-index/pair.ts";
import keyAsAStepName from "./key-as-a-step-name/pair.ts";
import loadThatCannotRepeat from "./load-that-cannot-repeat/pair.ts";
import cronIdFromNow from "./cron-id-from-now/pair.ts";

/** The pairs of this lesson, in reading order. */
export const pairs: RunnablePair<{ DB: D1Database; FILES: R2Bucket }>[] = [
  oneStepForTheWholeRun,
  wholeFileAsStepResult,
  stepNameFromLoopIndex,
  keyAsAStepName,
  loadThatCannotRepeat,
  cronIdFromNow,
];
