import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "one-throw-fails-the-batch",
  title: "One throw fails the batch",
  claim:
    "A throw redelivers the whole batch, finished messages too, and in the end sends it to the dead letter queue.",
  why: "A throw is about the batch, not about one message: every message in it has failed once more.",
  claims: ["C4", "C15"],
  symptom: "twice",
  engine: "queue",
  // The three messages are a batch, so that they stay together; the first delivery and three retries.
  queue: { batchSize: 3, batchTimeout: 1 },
  messages: ({ run }) => [
    { email: `ada+${run}@example.com` },
    { email: null },
    { email: `bob+${run}@example.com` },
  ],
  expect: {
    pitfall: { "email.sent": 4, "message.dead-lettered": 3 },
    fix: { "email.sent": 2, "message.dead-lettered": 1 },
  },
  exceptions: [
    {
      trial: "mail.send: answer lost",
      breaks: "mailed-once",
      because: "The mail is out, but its consumer does not know it and sends another one.",
      cure: "03/mark-after-the-mail",
    },
    {
      trial: "killed after mail.send",
      breaks: "mailed-once",
      because: "The mail is out and not marked: after the crash another one is sent.",
      cure: "03/mark-after-the-mail",
    },
    {
      trial: "each message twice",
      breaks: "mailed-once",
      because: "Nobody remembers the first delivery.",
      cure: "03/no-idempotency",
    },
    {
      trial: "each message twice at once",
      breaks: "mailed-once",
      because: "Nobody remembers the other delivery.",
      cure: "03/no-idempotency",
    },
  ],
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
