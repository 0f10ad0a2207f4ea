import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "retry-at-once",
  title: "Retrying at once",
  claim: "Retries without a delay are used up during the outage; retries with backoff outlast it.",
  why: "Three retries take milliseconds, an outage takes seconds. With a doubled delay the same three last longer.",
  claims: ["C4"],
  symptom: "vanished",
  engine: "queue",
  messages: ({ run }) => [{ id: run, email: `ada+${run}@example.com` }],
  faults: { "mail.send": { always: "fail" } },
  disturb: { outage: { seconds: 2 } },
  expect: {
    pitfall: { "email.sent": 0, "message.dead-lettered": 1 },
    fix: { "email.sent": 1, "message.dead-lettered": 0 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
