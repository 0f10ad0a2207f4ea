import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "check-then-act",
  title: "Check, then act",
  claim:
    "SELECT, send, INSERT is no lock: two deliveries at once both find nothing, and both send.",
  why: "Time passes between the check and the write. A claim does both in one statement: only one of two can win.",
  claims: ["C5", "C12"],
  symptom: "twice",
  engine: "queue",
  // The two messages are a batch: it is delivered when both are there.
  queue: { batchSize: 2, batchTimeout: 1 },
  messages: ({ run }) => [{ id: run, email: `ada+${run}@example.com` }],
  disturb: { deliver: 2, atOnce: true },
  expect: {
    pitfall: { "email.sent": 2 },
    fix: { "email.sent": 1 },
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
  ],
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
