import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "throwing-consumer",
  title: "A consumer that throws",
  claim: "a throw costs every message of the batch an attempt",
  why: "the whole batch comes again",
  claims: [],
  engine: "queue",
  queue: { retries: 1 },
  messages: () => ["good", "bad", "better"],
  expect: {
    pitfall: { "email.sent": 1, "message.dead-lettered": 3, "message.acked": 0 },
    fix: { "email.sent": 2, "message.dead-lettered": 1, "message.acked": 2 },
  },
  pitfall: async () => (await import("../variants.ts")).throwsOnBadMessage,
  fix: async () => (await import("../variants.ts")).retriesBadMessage,
} satisfies QueuePair;
