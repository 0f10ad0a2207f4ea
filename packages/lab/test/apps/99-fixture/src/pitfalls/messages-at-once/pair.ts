import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "messages-at-once",
  title: "A message twice, at once",
  claim: "both deliveries come in one call",
  why: "they were sent in one batch, and the queue's batch size is their number",
  claims: [],
  engine: "queue",
  queue: { batchSize: 2, retries: 1 },
  messages: () => ["a", "b"],
  disturb: { deliver: 2, atOnce: true },
  expect: {
    pitfall: { "email.sent": 4, "consumer.called": 2, "message.delivered": 4 },
    // It can only tell within one call.
    fix: { "email.sent": 2, "consumer.called": 2, "message.delivered": 4 },
  },
  pitfall: async () => (await import("../variants.ts")).mailPerMessage,
  fix: async () => (await import("../variants.ts")).mailPerBodyOfBatch,
} satisfies QueuePair;
