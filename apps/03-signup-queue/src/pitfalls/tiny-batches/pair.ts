import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "tiny-batches",
  title: "Tiny batches",
  claim:
    "The batch size decides how often the consumer is called: 20 times for 20 messages, or twice.",
  why: "Each call has a cost: one invocation, and the statements of a batch. The two files are the same; only the settings differ.",
  claims: ["C2", "C9"],
  symptom: "wasteful",
  engine: "queue",
  // The batch size is the lesson.
  queue: { pitfall: { batchSize: 1 }, fix: { batchSize: 10, batchTimeout: 1 } },
  messages: ({ run }) =>
    Array.from({ length: 20 }, (_, nth) => ({
      id: `${run}-${nth}`,
      email: `person-${nth}+${run}@example.com`,
    })),
  expect: {
    pitfall: { "email.sent": 20, "consumer.called": 20 },
    fix: { "email.sent": 20, "consumer.called": 2 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
