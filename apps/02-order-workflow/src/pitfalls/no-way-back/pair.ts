import type { WorkflowPair } from "@durable-lessons/lab";
import { orderOf } from "../order.ts";

export default {
  id: "no-way-back",
  title: "No rollback handler",
  claim:
    "When retries are used up, nothing is rolled back by itself; rollback handlers do it, last step first.",
  why: "To the engine a finished step is finished. How to compensate it is your business: the last argument of the step.",
  claims: ["B4", "B29", "B30"],
  symptom: "stopped",
  engine: "workflow",
  params: orderOf,
  faults: { "carrier.ship": { always: "fail" } },
  expect: {
    pitfall: {
      status: "errored",
      "stock.reserved": 1,
      "card.charged": 1,
      "card.refunded": 0,
      "stock.released": 0,
    },
    fix: {
      status: "errored",
      "stock.reserved": 1,
      "card.charged": 1,
      "card.refunded": 1,
      "stock.released": 1,
    },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
