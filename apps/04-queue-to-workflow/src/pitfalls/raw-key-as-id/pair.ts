import type { QueuePair } from "@durable-lessons/lab";
import { order } from "../order.ts";

const keys = ["1001", "shop/1002", "ada@example.com", "🫖 1004", "1005"];

export default {
  id: "raw-key-as-id",
  title: "A raw key as the id",
  claim: "One id that the platform does not take refuses the whole batch, the good ones with it.",
  why: "An instance id is letters, digits, - and _, at most 100. createBatch throws for a bad one before it starts any.",
  claims: [],
  symptom: "stopped",
  engine: "queue",
  // The five are a batch.
  queue: { batchSize: 5, batchTimeout: 1 },
  messages: () => keys.map(order),
  expect: {
    pitfall: { "card.charged": 0, "workflow.created": 0, "message.dead-lettered": 5 },
    fix: { "card.charged": 5, "workflow.created": 5, "message.dead-lettered": 0 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
