import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "claim-without-a-lease",
  title: "A claim that never ends",
  claim:
    "With a claim that never expires, a crash after the claim means that the email is never sent.",
  why: "The row of the dead consumer says forever that the work is in progress. A lease says until when.",
  claims: ["C12"],
  symptom: "vanished",
  engine: "queue",
  messages: ({ run }) => [{ id: run, email: `ada+${run}@example.com` }],
  faults: { "mail.send": ["hang"] },
  disturb: { crash: { during: "mail.send" } },
  expect: {
    pitfall: { "email.sent": 0 },
    fix: { "email.sent": 1 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
