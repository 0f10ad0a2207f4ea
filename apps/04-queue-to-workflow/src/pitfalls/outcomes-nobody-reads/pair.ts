import type { QueuePair } from "@durable-lessons/lab";
import { order } from "../order.ts";

export default {
  id: "outcomes-nobody-reads",
  title: "Outcomes that nobody reads",
  claim:
    "createBatch reports a refused instance in its answer and does not throw: its message is acked.",
  why: "The call has succeeded, as a call. Each instance has an outcome of its own, and its message needs a mark of its own.",
  claims: ["F8"],
  symptom: "vanished",
  engine: "queue",
  // The three are a batch.
  queue: { batchSize: 3, batchTimeout: 1 },
  messages: ({ run }) => [1, 2, 3].map((nth) => order(`order-${nth}-${run}`)),
  faults: { "workflow.create": ["report-errors"] },
  expect: {
    pitfall: { "workflow.created": 2, "card.charged": 2, "message.acked": 3 },
    fix: { "workflow.created": 3, "card.charged": 3, "message.acked": 3 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
