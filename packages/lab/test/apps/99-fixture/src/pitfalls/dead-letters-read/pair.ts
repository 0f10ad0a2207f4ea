import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "dead-letters-read",
  title: "Dead letters that are read",
  claim: "a dead letter goes to the variant that reads them, and is noted for the other one too",
  why: "each variant has a consumer of its own for them, or none",
  claims: [],
  engine: "queue",
  queue: { retries: 1 },
  messages: () => ["good", "bad"],
  expect: {
    pitfall: { "email.sent": 1, "message.retried": 2, "message.dead-lettered": 1 },
    fix: { "email.sent": 1, "alert.sent": 1, "message.retried": 2, "message.dead-lettered": 1 },
  },
  pitfall: async () => (await import("../variants.ts")).retriesBadMessage,
  fix: async () => (await import("../variants.ts")).readsDeadLetters,
} satisfies QueuePair;
