import type { WorkflowPair } from "@durable-lessons/lab";
import { orderOf } from "../order.ts";

export default {
  id: "undo-that-throws",
  title: "A rollback handler that throws",
  claim:
    "The failed step's own rollback handler runs too, without an output; if one handler throws, the rest do not run.",
  why: "The failed step may have had its effect, so its handler runs, and runs first. The handlers of earlier steps run only if it succeeds.",
  claims: ["B29"],
  symptom: "stopped",
  engine: "workflow",
  params: orderOf,
  faults: { "carrier.ship": { always: "fail" } },
  expect: {
    pitfall: { status: "errored", "stock.reserved": 1, "stock.released": 0 },
    fix: { status: "errored", "stock.reserved": 1, "stock.released": 1 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
