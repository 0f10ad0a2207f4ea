import type { WorkflowPair } from "@durable-lessons/lab";
import { orderOf } from "../order.ts";

export default {
  id: "undo-that-throws",
  title: "An undo that throws",
  claim:
    "The failed step's own undo runs too, without an output; one undo that throws ends the chain.",
  why: "The failed step may have had its effect, so its handler is called, first of all. The earlier steps' handlers are called only if that one ends well.",
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
