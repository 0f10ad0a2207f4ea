import type { RunnablePair } from "@durable-lessons/lab/worker";
import * as oneGiantStepFix from "./one-giant-step/fix.ts";
import oneGiantStep from "./one-giant-step/pair.ts";
import * as oneGiantStepPitfall from "./one-giant-step/pitfall.ts";
import * as chargeWithoutAKeyFix from "./charge-without-a-key/fix.ts";
import chargeWithoutAKey from "./charge-without-a-key/pair.ts";
import * as chargeWithoutAKeyPitfall from "./charge-without-a-key/pitfall.ts";
import * as retryingADeclineFix from "./retrying-a-decline/fix.ts";
import retryingADecline from "./retrying-a-decline/pair.ts";
import * as retryingADeclinePitfall from "./retrying-a-decline/pitfall.ts";
import * as reviewThatTimesOutFix from "./review-that-times-out/fix.ts";
import reviewThatTimesOut from "./review-that-times-out/pair.ts";
import * as reviewThatTimesOutPitfall from "./review-that-times-out/pitfall.ts";
import * as noWayBackFix from "./no-way-back/fix.ts";
import noWayBack from "./no-way-back/pair.ts";
import * as noWayBackPitfall from "./no-way-back/pitfall.ts";
import * as caughtAndSwallowedFix from "./caught-and-swallowed/fix.ts";
import caughtAndSwallowed from "./caught-and-swallowed/pair.ts";
import * as caughtAndSwallowedPitfall from "./caught-and-swallowed/pitfall.ts";
import * as undoThatThrowsFix from "./undo-that-throws/fix.ts";
import undoThatThrows from "./undo-that-throws/pair.ts";
import * as undoThatThrowsPitfall from "./undo-that-throws/pitfall.ts";
import * as stateOutsideStepsFix from "./state-outside-steps/fix.ts";
import stateOutsideSteps from "./state-outside-steps/pair.ts";
import * as stateOutsideStepsPitfall from "./state-outside-steps/pitfall.ts";
import * as auditLogOutsideStepsFix from "./audit-log-outside-steps/fix.ts";
import auditLogOutsideSteps from "./audit-log-outside-steps/pair.ts";
import * as auditLogOutsideStepsPitfall from "./audit-log-outside-steps/pitfall.ts";
import * as priceReadOutsideAStepFix from "./price-read-outside-a-step/fix.ts";
import priceReadOutsideAStep from "./price-read-outside-a-step/pair.ts";
import * as priceReadOutsideAStepPitfall from "./price-read-outside-a-step/pitfall.ts";
import * as unAwaitedStepFix from "./un-awaited-step/fix.ts";
import unAwaitedStep from "./un-awaited-step/pair.ts";
import * as unAwaitedStepPitfall from "./un-awaited-step/pitfall.ts";
import * as sleepingInsideAStepFix from "./sleeping-inside-a-step/fix.ts";
import sleepingInsideAStep from "./sleeping-inside-a-step/pair.ts";
import * as sleepingInsideAStepPitfall from "./sleeping-inside-a-step/pitfall.ts";
import * as restartFromScratchFix from "./restart-from-scratch/fix.ts";
import restartFromScratch from "./restart-from-scratch/pair.ts";
import * as restartFromScratchPitfall from "./restart-from-scratch/pitfall.ts";
import * as oneEventForTwoReviewsFix from "./one-event-for-two-reviews/fix.ts";
import oneEventForTwoReviews from "./one-event-for-two-reviews/pair.ts";
import * as oneEventForTwoReviewsPitfall from "./one-event-for-two-reviews/pitfall.ts";

/** The pairs of this lesson, in reading order. */
export const pairs: RunnablePair<Env>[] = [
  { ...oneGiantStep, pitfall: oneGiantStepPitfall, fix: oneGiantStepFix },
  { ...chargeWithoutAKey, pitfall: chargeWithoutAKeyPitfall, fix: chargeWithoutAKeyFix },
  { ...retryingADecline, pitfall: retryingADeclinePitfall, fix: retryingADeclineFix },
  { ...reviewThatTimesOut, pitfall: reviewThatTimesOutPitfall, fix: reviewThatTimesOutFix },
  { ...noWayBack, pitfall: noWayBackPitfall, fix: noWayBackFix },
  { ...caughtAndSwallowed, pitfall: caughtAndSwallowedPitfall, fix: caughtAndSwallowedFix },
  { ...undoThatThrows, pitfall: undoThatThrowsPitfall, fix: undoThatThrowsFix },
  { ...stateOutsideSteps, pitfall: stateOutsideStepsPitfall, fix: stateOutsideStepsFix },
  { ...auditLogOutsideSteps, pitfall: auditLogOutsideStepsPitfall, fix: auditLogOutsideStepsFix },
  {
    ...priceReadOutsideAStep,
    pitfall: priceReadOutsideAStepPitfall,
    fix: priceReadOutsideAStepFix,
  },
  { ...unAwaitedStep, pitfall: unAwaitedStepPitfall, fix: unAwaitedStepFix },
  { ...sleepingInsideAStep, pitfall: sleepingInsideAStepPitfall, fix: sleepingInsideAStepFix },
  { ...restartFromScratch, pitfall: restartFromScratchPitfall, fix: restartFromScratchFix },
  {
    ...oneEventForTwoReviews,
    pitfall: oneEventForTwoReviewsPitfall,
    fix: oneEventForTwoReviewsFix,
  },
];
