import type { WorkflowPair } from "@durable-lessons/lab";
import { orderOf } from "../order.ts";

export default {
  id: "retrying-a-decline",
  title: "Retrying a decline",
  claim:
    "What cannot succeed must not be retried: a NonRetryableError ends the step after one attempt.",
  why: "The engine cannot tell a declined card from a network error. It retries any other error; limit 3 means four attempts.",
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
