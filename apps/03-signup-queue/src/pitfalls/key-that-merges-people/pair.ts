import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "key-that-merges-people",
  title: "A key that merges people",
  claim: "Two people whose addresses a key takes for one get one email between them.",
  why: "What follows the + may be a tag or a colleague, and only their mail server knows. The second message is acked as a duplicate.",
  claims: ["C17"],
  symptom: "vanished",
  engine: "queue",
  messages: ({ run }) => [
    { email: `team-${run}+ada@example.com` },
    { email: `team-${run}+ben@example.com` },
  ],
  expect: {
    pitfall: { "email.sent": 1, "message.acked": 2 },
    fix: { "email.sent": 2, "message.acked": 2 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
