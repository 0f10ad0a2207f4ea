import type { RunnablePair } from "@durable-lessons/lab/worker";
import workInTheRequest from "./work-in-the-request/pair.ts";
import oneThrowFailsTheBatch from "./one-throw-fails-the-batch/pair.ts";
import swallowedErrorIsAnAck from "./swallowed-error-is-an-ack/pair.ts";
import noIdempotency from "./no-idempotency/pair.ts";
import checkThenAct from "./check-then-act/pair.ts";
import markAfterTheMail from "./mark-after-the-mail/pair.ts";
import claimWithoutALease from "./claim-without-a-lease/pair.ts";
import keyPerClick from "./key-per-click/pair.ts";
import keyFromRawInput from "./key-from-raw-input/pair.ts";
import keyThatMergesPeople from "./key-that-merges-people/pair.ts";
import keyWithAHole from "./key-with-a-hole/pair.ts";
import tinyBatches from "./tiny-batches/pair.ts";
import retryAtOnce from "./retry-at-once/pair.ts";
import retryingTheHopeless from "./retrying-the-hopeless/pair.ts";
import nobodyReadsTheDlq from "./nobody-reads-the-dlq/pair.ts";

/** The pairs of this lesson, in reading order. */
export const pairs: RunnablePair<{ DB: D1Database }>[] = [
  workInTheRequest,
  oneThrowFailsTheBatch,
  swallowedErrorIsAnAck,
  noIdempotency,
  checkThenAct,
  markAfterTheMail,
  claimWithoutALease,
  keyPerClick,
  keyFromRawInput,
  keyThatMergesPeople,
  keyWithAHole,
  tinyBatches,
  retryAtOnce,
  retryingTheHopeless,
  nobodyReadsTheDlq,
];
