import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "nobody-reads-the-dlq",
  title: "Nobody reads the dead letters",
  claim:
    "A dead letter queue without a consumer is a slow delete: nothing is kept and nobody hears of it.",
  why: "It is a queue like any other, and its messages expire like any other's. Somebody has to store them and call a person.",
  claims: ["C4", "C8"],
  symptom: "vanished",
  engine: "queue",
  messages: ({ run }) => [{ id: `welcome-${run}`, email: `ada+${run}@example.com` }],
  faults: { "mail.send": { always: "fail" } },
  output: {
    binding: "DB",
    sql: "SELECT COUNT(*) AS stored FROM dead_letters WHERE signup_id = 'welcome-' || ?1",
  },
  expect: {
    pitfall: { "message.dead-lettered": 1, "output.stored": 0, "alert.sent": 0 },
    fix: { "message.dead-lettered": 1, "output.stored": 1, "alert.sent": 1 },
    solved: [{ "output.stored": 1, "alert.sent": 1 }],
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
