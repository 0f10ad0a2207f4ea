import type { HttpPair } from "@durable-lessons/lab";

export default {
  id: "work-in-the-request",
  title: "Work in the request",
  claim:
    "A reply that does the slow work itself has to wait for it; one that puts it into a queue does not.",
  why: "The producer's work is done when the queue has the message. The mail is the consumer's, and nobody waits for it.",
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
