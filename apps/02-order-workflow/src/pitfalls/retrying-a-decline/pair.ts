import type { WorkflowPair } from "@durable-lessons/lab";
import { orderOf } from "../order.ts";

export default {
  id: "retrying-a-decline",
  title: "Retrying a decline",
  claim:
    "What cannot succeed must not be retried: a NonRetryableError ends the step after one attempt.",
  why: "The engine cannot know a bank's no from a bad line: every other error is one more attempt, limit 3 is four of them.",
  claims: ["B2", "B5"],
  symptom: "never-ends",
  engine: "workflow",
  params: orderOf,
  faults: { "payments.charge": { always: "decline" } },
  expect: {
    pitfall: { status: "errored", "card.declined": 4 },
    fix: { status: "errored", "card.declined": 1 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
