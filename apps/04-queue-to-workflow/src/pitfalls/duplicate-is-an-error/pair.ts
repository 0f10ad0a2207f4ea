import type { QueuePair } from "@durable-lessons/lab";
import { order } from "../order.ts";

export default {
  id: "duplicate-is-an-error",
  title: "A duplicate is an error",
  claim:
    "A duplicate that throws is retried until it is a dead letter, together with an order that never ran.",
  why: "create() throws for an id that exists. The batch fails, comes again and fails at the same place: the messages after it are never reached.",
  claims: ["F1", "F2"],
  symptom: "vanished",
  engine: "queue",
  // The four messages are a batch: it is delivered when all are there.
  queue: { batchSize: 4, batchTimeout: 1 },
  messages: ({ run }) => [order(`order-1-${run}`), order(`order-2-${run}`)],
  disturb: { deliver: 2, atOnce: true },
  expect: {
    pitfall: { "card.charged": 1, "message.dead-lettered": 4 },
    fix: { "card.charged": 2, "message.dead-lettered": 0 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
