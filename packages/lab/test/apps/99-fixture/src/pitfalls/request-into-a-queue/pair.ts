import type { HttpPair } from "@durable-lessons/lab";

export default {
  id: "request-into-a-queue",
  title: "A request into a queue",
  claim: "what a request puts into its queue is consumed after the answer, and counts",
  why: "the run has ended when every message is settled that it has sent",
  claims: [],
  engine: "http",
  queue: { retries: 1 },
  body: () => ({}),
  disturb: { deliver: 2 },
  expect: {
    pitfall: { "email.sent": 2, "message.sent": 0, "output.responses.0.effects": 1 },
    fix: {
      "email.sent": 6,
      "message.sent": 6,
      "message.acked": 6,
      "output.responses.0.effects": 0,
      "output.responses.1.effects": 0,
    },
  },
  pitfall: async () => (await import("../variants.ts")).mailPerRequest,
  fix: async () => (await import("../variants.ts")).threeMessagesPerRequest,
} satisfies HttpPair;
