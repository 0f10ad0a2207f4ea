import type { QueuePair } from "@durable-lessons/lab";
import { order } from "../order.ts";

export default {
  id: "ack-before-create",
  title: "Ack before create",
  claim:
    "If the ack comes first and the create is refused, the order is in no queue and in no Workflow.",
  why: "The first mark wins, so retry() after ack() does nothing. Until the instance exists, only the queue can hold the order.",
  claims: ["F4"],
  symptom: "vanished",
  engine: "queue",
  messages: ({ run }) => [order(`order-${run}`)],
  faults: {
    "workflow.create": [{ code: "rate_limited", message: "100 creates a second are enough" }],
  },
  expect: {
    pitfall: { "card.charged": 0, "workflow.created": 0, "message.delivered": 1 },
    fix: { "card.charged": 1, "workflow.created": 1, "message.delivered": 2 },
    solved: [{ "card.charged": 1 }],
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
