import type { RunnablePair } from "@durable-lessons/lab/worker";
import oneGiantStep from "./one-giant-step/pair.ts";
import chargeWithoutAKey from "./charge-without-a-key/pair.ts";
import retryingADecline from "./retrying-a-decline/pair.ts";
import reviewThatTimesOut from "./review-that-times-out/pair.ts";
import noWayBack from "./no-way-back/pair.ts";
import caughtAndSwallowed from "./caught-and-swallowed/pair.ts";
import undoThatThrows from "./undo-that-throws/pair.ts";
import stateOutsideSteps from "./state-outside-steps/pair.ts";
import auditLogOutsideSteps from "./audit-log-outside-steps/pair.ts";
import priceReadOutsideAStep from "./price-read-outside-a-step/pair.ts";
import unAwaitedStep from "./un-awaited-step/pair.ts";
import sleepingInsideAStep from "./sleeping-inside-a-step/pair.ts";
import restartFromScratch from "./restart-from-scratch/pair.ts";
import oneEventForTwoReviews from "./one-event-for-two-reviews/pair.ts";
import parallelStepsAndRollback from "./parallel-steps-and-rollback/pair.ts";
import raceWithADeadline from "./race-with-a-deadline/pair.ts";
import stepInsideAStep from "./step-inside-a-step/pair.ts";
import answerNobodyReads from "./answer-nobody-reads/pair.ts";

/** The pairs of this lesson, in reading order. */
export const pairs: RunnablePair<{ DB: D1Database }>[] = [
  oneGiantStep,
  chargeWithoutAKey,
  retryingADecline,
  reviewThatTimesOut,
  noWayBack,
  caughtAndSwallowed,
  undoThatThrows,
  stateOutsideSteps,
  auditLogOutsideSteps,
  priceReadOutsideAStep,
  unAwaitedStep,
  sleepingInsideAStep,
  restartFromScratch,
  oneEventForTwoReviews,
  parallelStepsAndRollback,
  raceWithADeadline,
  stepInsideAStep,
  answerNobodyReads,
];
