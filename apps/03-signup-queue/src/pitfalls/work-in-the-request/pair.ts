import type { HttpPair } from "@durable-lessons/lab";

export default {
  id: "work-in-the-request",
  title: "Work in the request",
  claim:
    "A request that does the slow work itself makes its client wait; one that puts it into a queue does not.",
  why: "The producer is done when the queue has the message. The consumer sends the email, and nobody waits for it.",
  claims: ["C1", "C10"],
  symptom: "wasteful",
  engine: "http",
  queue: {},
  body: ({ run }) => ({ email: `ada+${run}@example.com` }),
  faults: { "mail.send": [{ slowMs: 500 }] },
  expect: {
    pitfall: { "email.sent": 1, "output.responses.0.effects": 1 },
    fix: { "email.sent": 1, "output.responses.0.effects": 0 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies HttpPair;
