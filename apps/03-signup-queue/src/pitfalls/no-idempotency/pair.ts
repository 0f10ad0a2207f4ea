import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "no-idempotency",
  title: "No idempotency",
  claim:
    "A message that is delivered twice has its effect twice, unless the first time is recorded.",
  why: "Queues promise at-least-once delivery. The second delivery looks like the first; only a record tells them apart.",
  claims: ["C5", "C11"],
  symptom: "twice",
  engine: "queue",
  messages: ({ run }) => [{ id: run, email: `ada+${run}@example.com` }],
  disturb: { deliver: 2 },
  expect: {
    pitfall: { "email.sent": 2, "message.delivered": 2 },
    fix: { "email.sent": 1, "message.delivered": 2 },
    solved: [{ "email.sent": 1 }],
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
