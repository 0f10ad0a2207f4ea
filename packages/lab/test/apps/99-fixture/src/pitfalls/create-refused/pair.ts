import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "create-refused",
  title: "A create that is refused",
  claim: "a call counts whether or not it creates, and once for however many",
  why: "the lab notes the call beside the instances",
  claims: [],
  engine: "queue",
  queue: { retries: 1 },
  messages: () => ["order-1", "order-2"],
  faults: { "workflow.create": ["fail"] },
  expect: {
    // The first call is refused, and the batch comes again.
    pitfall: { "email.sent": 2, "workflow.create-called": 3, "workflow.created": 2 },
    fix: { "email.sent": 2, "workflow.create-called": 2, "workflow.created": 2 },
  },
  pitfall: async () => (await import("../variants.ts")).instancePerMessage,
  fix: async () => (await import("../variants.ts")).instancesPerBatch,
} satisfies QueuePair;
