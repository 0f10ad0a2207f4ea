import type { RunnablePair } from "@durable-lessons/lab/worker";
import * as generateAgainOnReplayFix from "./generate-again-on-replay/fix.ts";
import generateAgainOnReplay from "./generate-again-on-replay/pair.ts";
import * as generateAgainOnReplayPitfall from "./generate-again-on-replay/pitfall.ts";
import * as pollingForTheAnswerFix from "./polling-for-the-answer/fix.ts";
import pollingForTheAnswer from "./polling-for-the-answer/pair.ts";
import * as pollingForTheAnswerPitfall from "./polling-for-the-answer/pitfall.ts";
import * as approvalAnyoneCanSendFix from "./approval-anyone-can-send/fix.ts";
import approvalAnyoneCanSend from "./approval-anyone-can-send/pair.ts";
import * as approvalAnyoneCanSendPitfall from "./approval-anyone-can-send/pitfall.ts";
import * as noReminderNoEndFix from "./no-reminder-no-end/fix.ts";
import noReminderNoEnd from "./no-reminder-no-end/pair.ts";
import * as noReminderNoEndPitfall from "./no-reminder-no-end/pitfall.ts";

/** The pairs of this lesson, in reading order. */
export const pairs: RunnablePair<Env>[] = [
  {
    ...generateAgainOnReplay,
    pitfall: generateAgainOnReplayPitfall,
    fix: generateAgainOnReplayFix,
  },
  { ...pollingForTheAnswer, pitfall: pollingForTheAnswerPitfall, fix: pollingForTheAnswerFix },
  {
    ...approvalAnyoneCanSend,
    pitfall: approvalAnyoneCanSendPitfall,
    fix: approvalAnyoneCanSendFix,
  },
  { ...noReminderNoEnd, pitfall: noReminderNoEndPitfall, fix: noReminderNoEndFix },
];
