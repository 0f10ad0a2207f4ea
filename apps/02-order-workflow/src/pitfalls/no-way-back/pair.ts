import type { WorkflowPair } from "@durable-lessons/lab";
import { orderOf } from "../order.ts";

export default {
  id: "no-way-back",
  title: "No way back",
  claim:
    "Retries that are used up roll nothing back by themselves; rollback handlers do, last step first.",
  why: "To the engine a finished step is finished. What undoes it is business, and stands beside the step as its last argument.",
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
