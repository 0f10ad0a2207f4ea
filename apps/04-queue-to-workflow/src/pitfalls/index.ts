import type { RunnablePair } from "@durable-lessons/lab/worker";
import * as randomInstanceIdFix from "./random-instance-id/fix.ts";
import randomInstanceId from "./random-instance-id/pair.ts";
import * as randomInstanceIdPitfall from "./random-instance-id/pitfall.ts";
import * as duplicateIsAnErrorFix from "./duplicate-is-an-error/fix.ts";
import duplicateIsAnError from "./duplicate-is-an-error/pair.ts";
import * as duplicateIsAnErrorPitfall from "./duplicate-is-an-error/pitfall.ts";
import * as ackBeforeCreateFix from "./ack-before-create/fix.ts";
import ackBeforeCreate from "./ack-before-create/pair.ts";
import * as ackBeforeCreatePitfall from "./ack-before-create/pitfall.ts";
import * as oneCreatePerMessageFix from "./one-create-per-message/fix.ts";
import oneCreatePerMessage from "./one-create-per-message/pair.ts";
import * as oneCreatePerMessagePitfall from "./one-create-per-message/pitfall.ts";
import * as rawKeyAsIdFix from "./raw-key-as-id/fix.ts";
import rawKeyAsId from "./raw-key-as-id/pair.ts";
import * as rawKeyAsIdPitfall from "./raw-key-as-id/pitfall.ts";
import * as oneIdForTwoFlowsFix from "./one-id-for-two-flows/fix.ts";
import oneIdForTwoFlows from "./one-id-for-two-flows/pair.ts";
import * as oneIdForTwoFlowsPitfall from "./one-id-for-two-flows/pitfall.ts";
import * as trustingIdsForEverFix from "./trusting-ids-for-ever/fix.ts";
import trustingIdsForEver from "./trusting-ids-for-ever/pair.ts";
import * as trustingIdsForEverPitfall from "./trusting-ids-for-ever/pitfall.ts";
import * as stateMachineInMessagesFix from "./state-machine-in-messages/fix.ts";
import stateMachineInMessages from "./state-machine-in-messages/pair.ts";
import * as stateMachineInMessagesPitfall from "./state-machine-in-messages/pitfall.ts";

/** The pairs of this lesson, in reading order. */
export const pairs: RunnablePair<LabEnv>[] = [
  { ...randomInstanceId, pitfall: randomInstanceIdPitfall, fix: randomInstanceIdFix },
  { ...duplicateIsAnError, pitfall: duplicateIsAnErrorPitfall, fix: duplicateIsAnErrorFix },
  { ...ackBeforeCreate, pitfall: ackBeforeCreatePitfall, fix: ackBeforeCreateFix },
  { ...oneCreatePerMessage, pitfall: oneCreatePerMessagePitfall, fix: oneCreatePerMessageFix },
  { ...rawKeyAsId, pitfall: rawKeyAsIdPitfall, fix: rawKeyAsIdFix },
  { ...oneIdForTwoFlows, pitfall: oneIdForTwoFlowsPitfall, fix: oneIdForTwoFlowsFix },
  { ...trustingIdsForEver, pitfall: trustingIdsForEverPitfall, fix: trustingIdsForEverFix },
  {
    ...stateMachineInMessages,
    pitfall: stateMachineInMessagesPitfall,
    fix: stateMachineInMessagesFix,
  },
];
