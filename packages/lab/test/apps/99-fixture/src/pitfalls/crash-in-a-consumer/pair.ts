import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "crash-in-a-consumer",
  title: "A crash in a consumer",
  claim: "what was not acked comes again",
  why: "an ack counts when the batch is over",
  claims: [],
  engine: "queue",
  queue: { retries: 1 },
  messages: () => ["a", "b"],
  faults: { "mail.send": ["ok", "hang"] },
  disturb: { crash: { during: "mail.send" } },
  expect: {
    pitfall: { "email.sent": 3, "message.delivered": 4 },
    fix: { "email.sent": 2, "message.delivered": 4 },
  },
  pitfall: async () => (await import("../variants.ts")).mailPerMessage,
  fix: async () => (await import("../variants.ts")).mailWithKeyPerMessage,
} satisfies QueuePair;
