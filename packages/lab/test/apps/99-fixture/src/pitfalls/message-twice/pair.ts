import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "message-twice",
  title: "A message twice",
  claim: "without a key the second delivery has its effect too",
  why: "at least once",
  claims: [],
  engine: "queue",
  queue: { retries: 1 },
  messages: () => ["a"],
  disturb: { deliver: 2 },
  expect: {
    pitfall: { "email.sent": 2, "message.delivered": 2 },
    fix: { "email.sent": 1, "message.delivered": 2 },
  },
  pitfall: async () => (await import("../variants.ts")).mailPerMessage,
  fix: async () => (await import("../variants.ts")).mailWithKeyPerMessage,
} satisfies QueuePair;
