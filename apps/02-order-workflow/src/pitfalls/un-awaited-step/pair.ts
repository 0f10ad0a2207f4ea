import type { WorkflowPair } from "@durable-lessons/lab";
import { orderOf } from "../order.ts";

export default {
  id: "un-awaited-step",
  title: "An un-awaited step",
  claim: "A step that is not awaited fails silently: the instance is complete without it.",
  why: "When run() returns, the instance is complete, whatever is still running. The error of such a step is lost, and rolls nothing back.",
  claims: ["B16"],
  symptom: "vanished",
  engine: "workflow",
  params: orderOf,
  faults: { "mail.send": { always: "fail" } },
  expect: {
    pitfall: { status: "complete", "card.charged": 1, "email.sent": 0 },
    fix: { status: "errored", "card.charged": 1, "email.sent": 0 },
    solved: [{ status: "errored", "card.charged": 1, "card.refunded": 1, "email.sent": 0 }],
  },
  exceptions: [
    {
      trial: "mail.send always fails",
      breaks: "undone-leaves-nothing",
      because: "The run is errored, as it should be, and nobody gives the money back.",
      cure: "02/no-way-back",
    },
  ],
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
