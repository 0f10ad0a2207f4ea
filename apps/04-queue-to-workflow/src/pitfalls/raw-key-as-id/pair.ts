import type { QueuePair } from "@durable-lessons/lab";
import { order } from "../order.ts";

export default {
  id: "raw-key-as-id",
  title: "A raw key as the id",
  claim: "One invalid id makes the platform refuse the whole batch, valid ids included.",
  why: "An instance id has only letters, digits, - and _, at most 100. createBatch throws for an invalid one before it starts any.",
  claims: ["F6"],
  symptom: "stopped",
  engine: "queue",
  // The five are a batch.
  queue: { batchSize: 5, batchTimeout: 1 },
  messages: ({ run }) =>
    [
      `1001-${run}`,
      `shop/1002-${run}`,
      `ada+${run}@example.com`,
      `🫖 1004-${run}`,
      `1005-${run}`,
    ].map(order),
  expect: {
    pitfall: { "card.charged": 0, "workflow.created": 0, "message.dead-lettered": 5 },
    fix: { "card.charged": 5, "workflow.created": 5, "message.dead-lettered": 0 },
    solved: [{ "card.charged": 5, "message.dead-lettered": 0 }],
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
