import type { WorkflowPair } from "@durable-lessons/lab";
import { orderOf } from "../order.ts";

export default {
  id: "review-that-times-out",
  title: "A review that times out",
  claim: "A wait that times out throws, and code that catches the error can clean up.",
  why: "Nobody answers, and waitForEvent throws a WorkflowTimeoutError. Uncaught, it ends the instance at once. Other errors arrive in the same catch block, so it checks which one it got.",
  claims: ["B8"],
  symptom: "stopped",
  engine: "workflow",
  params: orderOf,

  expect: {
    pitfall: { status: "errored", "stock.reserved": 1, "stock.released": 0 },
    fix: { status: "complete", "stock.reserved": 1, "stock.released": 1 },
    solved: [{ status: "errored", "stock.reserved": 1, "stock.released": 1 }],
  },
  exceptions: [
    {
      trial: "carrier.ship always fails",
      breaks: "undone-leaves-nothing",
      because: "The run is errored, and what is reserved stays reserved.",
      cure: "02/no-way-back",
    },
    {
      trial: "stock.reserve: every answer lost",
      breaks: "undone-leaves-nothing",
      because: "The run is errored before it waits, and what is reserved stays reserved.",
      cure: "02/no-way-back",
    },
    {
      trial: "carrier.ship: every answer lost",
      breaks: "undone-leaves-nothing",
      because:
        "The run is errored although the parcel has left, and what is reserved stays reserved.",
      cure: "02/undo-that-throws",
    },
  ],
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
