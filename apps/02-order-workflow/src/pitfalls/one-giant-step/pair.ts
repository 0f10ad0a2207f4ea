import type { WorkflowPair } from "@durable-lessons/lab";
import { orderOf } from "../order.ts";

export default {
  id: "one-giant-step",
  title: "One giant step",
  claim: "One big step repeats everything in it when its last part fails.",
  why: "A retry starts the callback from its first line. Only a finished step is stored, so what must not repeat needs a step of its own.",
  claims: ["B6", "B11"],
  symptom: "twice",
  engine: "workflow",
  params: orderOf,
  faults: { "carrier.ship": ["fail", "fail"] },
  expect: {
    pitfall: { "card.charged": 3, "parcel.shipped": 1 },
    fix: { "card.charged": 1, "parcel.shipped": 1 },
  },
  exceptions: [
    {
      trial: "carrier.ship always fails",
      breaks: "undone-leaves-nothing",
      because: "The run is errored, and nobody gives the money back.",
      cure: "02/no-way-back",
    },
  ],
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
