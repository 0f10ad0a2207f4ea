import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "mark-after-the-mail",
  title: "The gap before the mark",
  claim:
    "No table closes the gap between the email and the mark in the database; the provider's key does.",
  why: "Email and database share no transaction. After a crash in the gap only the provider knows what has happened.",
  claims: ["C5", "C12"],
  symptom: "twice",
  engine: "queue",
  messages: ({ run }) => [{ id: run, email: `ada+${run}@example.com` }],
  faults: { "mail.send": ["hang-after-effect"] },
  disturb: { crash: { after: "mail.send" } },
  expect: {
    pitfall: { "email.sent": 2 },
    fix: { "email.sent": 1 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
