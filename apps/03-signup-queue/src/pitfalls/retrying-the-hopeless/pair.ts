import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "retrying-the-hopeless",
  title: "Retrying what cannot succeed",
  claim:
    "A message that can never succeed costs four deliveries and an alert; parked, it costs one and keeps its reason.",
  why: "A broken body stays broken. A message that no retry can help is stored with its reason, and acked.",
  claims: ["C15"],
  symptom: "wasteful",
  engine: "queue",
  messages: ({ run }) => [{ id: run, email: "no address" }],
  kept: {
    binding: "DB",
    sql: "SELECT COUNT(*) AS n FROM dead_letters WHERE id IN (SELECT value FROM json_each(?1))",
  },
  output: {
    binding: "DB",
    sql: "SELECT COUNT(*) AS parked FROM dead_letters WHERE body ->> '$.id' = ?1",
  },
  expect: {
    pitfall: { "message.delivered": 4, "message.dead-lettered": 1, "output.parked": 0 },
    fix: { "message.delivered": 1, "message.dead-lettered": 0, "output.parked": 1 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
