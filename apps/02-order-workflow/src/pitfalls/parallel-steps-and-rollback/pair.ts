import type { WorkflowPair } from "@durable-lessons/lab";
import { orderOf } from "../order.ts";

export default {
  id: "parallel-steps-and-rollback",
  title: "Parallel steps and rollback",
  claim:
    "When one of several parallel steps fails, Promise.all ends the run while the others still work: rollback does not know them.",
  why: "Promise.all rejects with the first error. run() ends, the rollback handlers of the finished steps run, and nobody compensates what a slower step does after that.",
  claims: ["B37"],
  symptom: "stopped",
  engine: "workflow",
  params: orderOf,
  faults: {
    "audit.log": [{ slowMs: 1500 }],
    "carrier.ship": { always: "fail" },
    "stock.release": [{ slowMs: 3000 }],
  },
  expect: {
    pitfall: {
      status: "errored",
      "stock.reserved": 1,
      "stock.released": 1,
      "audit.logged": 1,
      "card.charged": 1,
      "card.refunded": 0,
    },
    fix: {
      status: "errored",
      "stock.reserved": 1,
      "stock.released": 1,
      "audit.logged": 1,
      "card.charged": 1,
      "card.refunded": 1,
    },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
