import type { WorkflowPair } from "@durable-lessons/lab";
import { orderOf } from "../order.ts";

export default {
  id: "one-event-for-two-reviews",
  title: "One event for two reviews",
  claim: "Events queue per type: a double click also passes the next review of that type.",
  why: "An event that no step waits for yet is kept for the next wait of its type. Two reviews by two people need two types.",
  claims: ["B7", "B8"],
  symptom: "wrong",
  engine: "workflow",
  params: orderOf,
  disturb: { sendEvent: { type: "review", payload: { approved: true }, times: 2 } },
  expect: {
    pitfall: { status: "complete", "parcel.shipped": 1 },
    fix: { status: "errored", "parcel.shipped": 0 },
    solved: [{ status: "complete", "parcel.shipped": 0 }],
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
