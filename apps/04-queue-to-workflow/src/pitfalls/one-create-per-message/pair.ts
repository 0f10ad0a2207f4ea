import type { QueuePair } from "@durable-lessons/lab";
import { order } from "../order.ts";

export default {
  id: "one-create-per-message",
  title: "One create per message",
  claim: "A hundred messages are a hundred calls, or one.",
  why: "Each call is a round trip that the whole batch waits for. createBatch takes as many instances as a batch has messages: a hundred, up to 1 MiB.",
  claims: ["F5"],
  symptom: "wasteful",
  engine: "queue",
  // The hundred are a batch.
  queue: { batchSize: 100, batchTimeout: 1 },
  messages: ({ run }) => Array.from({ length: 100 }, (_, nth) => order(`order-${nth}-${run}`)),
  expect: {
    pitfall: { "workflow.created": 100, "workflow.create-called": 100 },
    fix: { "workflow.created": 100, "workflow.create-called": 1 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
