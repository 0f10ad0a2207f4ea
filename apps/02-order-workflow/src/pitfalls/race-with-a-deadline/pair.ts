import type { WorkflowPair } from "@durable-lessons/lab";
import { orderOf } from "../order.ts";

export default {
  id: "race-with-a-deadline",
  title: "A race with a deadline",
  claim:
    "Promise.race stops nothing: the step that lost the race goes on, and so does what it asked for.",
  why: "A promise cannot be cancelled. When the deadline wins, the parcel is still on its way to be shipped, while the customer reads that it is not.",
  claims: ["B38"],
  symptom: "wrong",
  engine: "workflow",
  params: orderOf,
  faults: { "carrier.ship": [{ slowMs: 3000 }] },
  expect: {
    pitfall: { "parcel.shipped": 1, "parcel.recalled": 0, "email.sent": 1 },
    fix: { "parcel.shipped": 1, "parcel.recalled": 1, "email.sent": 1 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
