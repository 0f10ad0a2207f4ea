import type { WorkflowPair } from "@durable-lessons/lab";
import { orderOf } from "../order.ts";

export default {
  id: "audit-log-outside-steps",
  title: "An audit log outside steps",
  claim: "A log line outside a step is written again by every replay.",
  why: "A log is a side effect like any other once somebody counts its lines. In a step the replay does not write it again.",
  claims: ["B13"],
  symptom: "twice",
  engine: "workflow",
  params: orderOf,
  faults: { "carrier.ship": ["hang"] },
  disturb: { crash: { during: "ship parcel" } },
  expect: {
    pitfall: { "audit.logged": 2, "parcel.shipped": 1 },
    fix: { "audit.logged": 1, "parcel.shipped": 1 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
