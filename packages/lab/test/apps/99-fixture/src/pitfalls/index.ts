import type { RunnablePair } from "@durable-lessons/lab/worker";
import crashAfterAStep from "./crash-after-a-step/pair.ts";
import crashAfterAnEffect from "./crash-after-an-effect/pair.ts";
import crashDuringAStep from "./crash-during-a-step/pair.ts";
import crashInAConsumer from "./crash-in-a-consumer/pair.ts";
import createRefused from "./create-refused/pair.ts";
import deadLettersRead from "./dead-letters-read/pair.ts";
import eventTwice from "./event-twice/pair.ts";
import instanceExpired from "./instance-expired/pair.ts";
import manySteps from "./many-steps/pair.ts";
import messageTwice from "./message-twice/pair.ts";
import messagesAtOnce from "./messages-at-once/pair.ts";
import outage from "./outage/pair.ts";
import requestIntoAQueue from "./request-into-a-queue/pair.ts";
import requestTwice from "./request-twice/pair.ts";
import restartFromAStep from "./restart-from-a-step/pair.ts";
import restartFromTheBeginning from "./restart-from-the-beginning/pair.ts";
import rowsAsOutput from "./rows-as-output/pair.ts";
import throwingConsumer from "./throwing-consumer/pair.ts";
import waitWithoutAnEnd from "./wait-without-an-end/pair.ts";

export const pairs: RunnablePair<object>[] = [
  crashDuringAStep,
  crashAfterAStep,
  restartFromAStep,
  restartFromTheBeginning,
  eventTwice,
  messageTwice,
  throwingConsumer,
  crashInAConsumer,
  requestTwice,
  crashAfterAnEffect,
  messagesAtOnce,
  outage,
  rowsAsOutput,
  deadLettersRead,
  requestIntoAQueue,
  instanceExpired,
  waitWithoutAnEnd,
  manySteps,
  createRefused,
];
