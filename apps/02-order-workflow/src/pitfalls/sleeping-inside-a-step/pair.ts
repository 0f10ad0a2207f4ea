import type { WorkflowPair } from "@durable-lessons/lab";
import { orderOf } from "../order.ts";

export default {
  id: "sleeping-inside-a-step",
  title: "Sleeping inside a step",
  claim: "A sleep inside step.do uses up the step's timeout, and then its retries.",
  why: "To the engine the callback is busy, and late. No timeout applies to step.sleep, and a sleeping instance needs no memory.",
  claims: ["B17"],
  symptom: "twice",
  engine: "workflow",
  params: orderOf,

  expect: {
    pitfall: { status: "errored", "card.charged": 2 },
    fix: { status: "complete", "card.charged": 1, "parcel.shipped": 1 },
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
