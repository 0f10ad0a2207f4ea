import type { WorkflowPair } from "@durable-lessons/lab";
import { orderOf } from "../order.ts";

export default {
  id: "caught-and-swallowed",
  title: "Caught and swallowed",
  claim:
    "Rollback handlers run only on an uncaught failure: an error that is caught and not thrown again runs none.",
  why: "An instance whose run() returns has succeeded. Code that catches an error to tell somebody has to throw it again.",
  claims: ["B4", "B29"],
  symptom: "vanished",
  engine: "workflow",
  params: orderOf,
  faults: { "carrier.ship": { always: "fail" } },
  expect: {
    pitfall: { status: "complete", "card.charged": 1, "email.sent": 1, "card.refunded": 0 },
    fix: { status: "errored", "card.charged": 1, "email.sent": 1, "card.refunded": 1 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
