import type { WorkflowPair } from "@durable-lessons/lab";
import { orderOf } from "../order.ts";

export default {
  id: "charge-without-a-key",
  title: "A charge without a key",
  claim: "A timed-out attempt keeps running; only an idempotency key prevents a second charge.",
  why: "The engine stops waiting, but the provider does not know. Instance id and step name make a key that every attempt shares.",
  claims: ["B10"],
  symptom: "twice",
  engine: "workflow",
  params: orderOf,
  faults: { "payments.charge": [{ slowMs: 5000 }] },
  expect: {
    pitfall: { "card.charged": 2 },
    fix: { "card.charged": 1 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
