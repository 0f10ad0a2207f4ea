import type { WorkflowPair } from "@durable-lessons/lab";
import { orderOf } from "../order.ts";

export default {
  id: "step-inside-a-step",
  title: "A step inside a step",
  claim:
    "A step inside a step is not remembered by the outer one: a retry of the outer step runs it once more.",
  why: "The retry calls the outer callback from its first line. The inner step counts as another one then, with another key, and its effect happens again.",
  claims: ["B39"],
  symptom: "twice",
  engine: "workflow",
  params: orderOf,
  faults: { "carrier.ship": ["fail"] },
  expect: {
    pitfall: { "card.charged": 2, "parcel.shipped": 1 },
    fix: { "card.charged": 1, "parcel.shipped": 1 },
  },
  exceptions: [
    {
      trial: "carrier.ship always fails",
      breaks: "undone-leaves-nothing",
      because: "The run is errored, as it should be, and nobody gives the money back.",
      cure: "02/no-way-back",
    },
  ],
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
