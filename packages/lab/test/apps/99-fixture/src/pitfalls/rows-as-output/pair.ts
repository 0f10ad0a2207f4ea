import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "rows-as-output",
  title: "Rows as output",
  claim: "the run's output is a row of a statement",
  why: "it is read when every message is settled",
  claims: [],
  engine: "queue",
  queue: { retries: 1 },
  messages: () => ["a", "b"],
  output: {
    binding: "WORLD",
    sql: "SELECT COUNT(*) AS mails, MAX(key) AS last FROM effects WHERE run = ?1",
  },
  expect: {
    pitfall: { "email.sent": 2, "output.mails": 2 },
    fix: { "email.sent": 2, "output.mails": 2, "output.last": "b" },
  },
  pitfall: async () => (await import("../variants.ts")).mailPerMessage,
  fix: async () => (await import("../variants.ts")).mailWithKeyPerMessage,
} satisfies QueuePair;
