import type { RunnablePair } from "@durable-lessons/lab/worker";
import randomInstanceId from "./random-instance-id/pair.ts";
import duplicateIsAnError from "./duplicate-is-an-error/pair.ts";
import ackBeforeCreate from "./ack-before-create/pair.ts";
import oneCreatePerMessage from "./one-create-per-message/pair.ts";
import outcomesNobodyReads from "./outcomes-nobody-reads/pair.ts";
import rawKeyAsId from "./raw-key-as-id/pair.ts";
import oneIdForTwoFlows from "./one-id-for-two-flows/pair.ts";
import trustingIdsForEver from "./trusting-ids-for-ever/pair.ts";
import stateMachineInMessages from "./state-machine-in-messages/pair.ts";

/** The pairs of this lesson, in reading order. */
export const pairs: RunnablePair<{ DB: D1Database }>[] = [
  randomInstanceId,
  duplicateIsAnError,
  ackBeforeCreate,
  oneCreatePerMessage,
  outcomesNobodyReads,
  rawKeyAsId,
  oneIdForTwoFlows,
  trustingIdsForEver,
  stateMachineInMessages,
];
