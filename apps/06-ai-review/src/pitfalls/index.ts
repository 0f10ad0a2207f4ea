import type { RunnablePair } from "@durable-lessons/lab/worker";
import type { LinkEnv } from "../review-link.ts";
import generateAgainOnReplay from "./generate-again-on-replay/pair.ts";
import pollingForTheAnswer from "./polling-for-the-answer/pair.ts";
import approvalAnyoneCanSend from "./approval-anyone-can-send/pair.ts";
import noReminderNoEnd from "./no-reminder-no-end/pair.ts";
import reminderThatDecides from "./reminder-that-decides/pair.ts";

/** The pairs of this lesson, in reading order. */
export const pairs: RunnablePair<LinkEnv & { DB: D1Database }>[] = [
  generateAgainOnReplay,
  pollingForTheAnswer,
  approvalAnyoneCanSend,
  noReminderNoEnd,
  reminderThatDecides,
];
