import type { RunnablePair } from "@durable-lessons/lab/worker";
import * as workInTheRequestFix from "./work-in-the-request/fix.ts";
import workInTheRequest from "./work-in-the-request/pair.ts";
import * as workInTheRequestPitfall from "./work-in-the-request/pitfall.ts";
import * as oneThrowFailsTheBatchFix from "./one-throw-fails-the-batch/fix.ts";
import oneThrowFailsTheBatch from "./one-throw-fails-the-batch/pair.ts";
import * as oneThrowFailsTheBatchPitfall from "./one-throw-fails-the-batch/pitfall.ts";
import * as swallowedErrorIsAnAckFix from "./swallowed-error-is-an-ack/fix.ts";
import swallowedErrorIsAnAck from "./swallowed-error-is-an-ack/pair.ts";
import * as swallowedErrorIsAnAckPitfall from "./swallowed-error-is-an-ack/pitfall.ts";
import * as noIdempotencyFix from "./no-idempotency/fix.ts";
import noIdempotency from "./no-idempotency/pair.ts";
import * as noIdempotencyPitfall from "./no-idempotency/pitfall.ts";
import * as checkThenActFix from "./check-then-act/fix.ts";
import checkThenAct from "./check-then-act/pair.ts";
import * as checkThenActPitfall from "./check-then-act/pitfall.ts";
import * as markAfterTheMailFix from "./mark-after-the-mail/fix.ts";
import markAfterTheMail from "./mark-after-the-mail/pair.ts";
import * as markAfterTheMailPitfall from "./mark-after-the-mail/pitfall.ts";
import * as claimWithoutALeaseFix from "./claim-without-a-lease/fix.ts";
import claimWithoutALease from "./claim-without-a-lease/pair.ts";
import * as claimWithoutALeasePitfall from "./claim-without-a-lease/pitfall.ts";
import * as keyPerClickFix from "./key-per-click/fix.ts";
import keyPerClick from "./key-per-click/pair.ts";
import * as keyPerClickPitfall from "./key-per-click/pitfall.ts";
import * as keyFromRawInputFix from "./key-from-raw-input/fix.ts";
import keyFromRawInput from "./key-from-raw-input/pair.ts";
import * as keyFromRawInputPitfall from "./key-from-raw-input/pitfall.ts";
import * as tinyBatchesFix from "./tiny-batches/fix.ts";
import tinyBatches from "./tiny-batches/pair.ts";
import * as tinyBatchesPitfall from "./tiny-batches/pitfall.ts";
import * as retryAtOnceFix from "./retry-at-once/fix.ts";
import retryAtOnce from "./retry-at-once/pair.ts";
import * as retryAtOncePitfall from "./retry-at-once/pitfall.ts";
import * as retryingTheHopelessFix from "./retrying-the-hopeless/fix.ts";
import retryingTheHopeless from "./retrying-the-hopeless/pair.ts";
import * as retryingTheHopelessPitfall from "./retrying-the-hopeless/pitfall.ts";
import * as nobodyReadsTheDlqFix from "./nobody-reads-the-dlq/fix.ts";
import nobodyReadsTheDlq from "./nobody-reads-the-dlq/pair.ts";
import * as nobodyReadsTheDlqPitfall from "./nobody-reads-the-dlq/pitfall.ts";

/** The pairs of this lesson, in reading order. */
export const pairs: RunnablePair<LabEnv>[] = [
  { ...workInTheRequest, pitfall: workInTheRequestPitfall, fix: workInTheRequestFix },
  {
    ...oneThrowFailsTheBatch,
    pitfall: oneThrowFailsTheBatchPitfall,
    fix: oneThrowFailsTheBatchFix,
  },
  {
    ...swallowedErrorIsAnAck,
    pitfall: swallowedErrorIsAnAckPitfall,
    fix: swallowedErrorIsAnAckFix,
  },
  { ...noIdempotency, pitfall: noIdempotencyPitfall, fix: noIdempotencyFix },
  { ...checkThenAct, pitfall: checkThenActPitfall, fix: checkThenActFix },
  { ...markAfterTheMail, pitfall: markAfterTheMailPitfall, fix: markAfterTheMailFix },
  { ...claimWithoutALease, pitfall: claimWithoutALeasePitfall, fix: claimWithoutALeaseFix },
  { ...keyPerClick, pitfall: keyPerClickPitfall, fix: keyPerClickFix },
  { ...keyFromRawInput, pitfall: keyFromRawInputPitfall, fix: keyFromRawInputFix },
  { ...tinyBatches, pitfall: tinyBatchesPitfall, fix: tinyBatchesFix },
  { ...retryAtOnce, pitfall: retryAtOncePitfall, fix: retryAtOnceFix },
  { ...retryingTheHopeless, pitfall: retryingTheHopelessPitfall, fix: retryingTheHopelessFix },
  { ...nobodyReadsTheDlq, pitfall: nobodyReadsTheDlqPitfall, fix: nobodyReadsTheDlqFix },
];
