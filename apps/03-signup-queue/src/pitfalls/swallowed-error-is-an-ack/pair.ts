import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "swallowed-error-is-an-ack",
  title: "A swallowed error is an ack",
  claim: "An unmarked message is acked when the handler returns, whatever happened to it.",
  why: "The platform sees a batch that succeeded. Only retry() or a throw says otherwise.",
  claims: ["C6"],
  symptom: "vanished",
  engine: "queue",
  messages: ({ run }) => [{ id: run, email: `ada+${run}@example.com` }],
  faults: { "mail.send": ["fail", "fail"] },
  expect: {
    pitfall: { "email.sent": 0, "message.delivered": 1 },
    fix: { "email.sent": 1, "message.delivered": 3 },
    solved: [{ "email.sent": 1 }],
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
