import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "key-with-a-hole",
  title: "A key with a hole",
  claim:
    "All messages that lack a part of their key share one key, and all but the first are acked as duplicates.",
  why: "A template writes a missing field as the word undefined. `keyFor` throws instead, and the message ends as a dead letter.",
  claims: ["C16"],
  symptom: "vanished",
  engine: "queue",
  messages: ({ run }) => [
    { team: run, member: 1, email: `ada+${run}@example.com` },
    { team: run, email: `ben+${run}@example.com` },
    { team: run, email: `cy+${run}@example.com` },
  ],
  expect: {
    pitfall: { "email.sent": 2, "message.dead-lettered": 0 },
    fix: { "email.sent": 1, "message.dead-lettered": 2 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
