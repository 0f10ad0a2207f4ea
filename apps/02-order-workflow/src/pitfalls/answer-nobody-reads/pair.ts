import type { WorkflowPair } from "@durable-lessons/lab";
import { orderOf } from "../order.ts";

export default {
  id: "answer-nobody-reads",
  title: "An answer nobody reads",
  claim:
    "waitForEvent returns for every event of its type: what the event says is for run() to read.",
  why: "An event ends the wait, whatever its payload is. Nothing checks that payload, so only a clear yes may count as one.",
  claims: ["B36"],
  symptom: "wrong",
  engine: "workflow",
  params: orderOf,
  disturb: { sendEvent: { type: "review", payload: { approved: "false" } } },
  expect: {
    pitfall: { "parcel.shipped": 1 },
    fix: { "parcel.shipped": 0 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
