import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "instance-expired",
  title: "An instance past its retention",
  claim: "its id is free again when the message comes once more",
  why: "the platform forgets an instance, its table does not",
  claims: [],
  engine: "queue",
  queue: { retries: 1 },
  messages: () => ["order-1", "order-2"],
  disturb: { expire: true },
  expect: {
    pitfall: { "email.sent": 4, "workflow.created": 4, "workflow.expired": 2 },
    fix: { "email.sent": 2, "workflow.created": 4, "workflow.expired": 2, "message.delivered": 4 },
  },
  pitfall: async () => (await import("../variants.ts")).instancePerMessage,
  fix: async () => (await import("../variants.ts")).instanceWithKeyPerMessage,
} satisfies QueuePair;
