import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "nobody-reads-the-dlq",
  title: "Nobody reads the dead letters",
  claim:
    "A dead letter queue without a consumer only delays the loss: its messages expire, and nobody is told.",
  why: "It is an ordinary queue, and its messages expire like any others. A consumer has to store them and alert a person.",
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
