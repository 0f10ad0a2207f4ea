import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "claim-without-a-lease",
  title: "A claim that never ends",
  claim: "A claim without an end turns a crash after it into a mail that is never sent.",
  why: "The dead claimer's row says that somebody is at it, for ever. A lease says until when.",
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
