import type { QueuePair } from "@durable-lessons/lab";
import { order } from "../order.ts";

export default {
  id: "random-instance-id",
  title: "A random instance id",
  claim: "Without an id made from the order, every delivery of its message starts another run.",
  why: "A queue delivers at least once. Only an id that is the same for every delivery lets the platform refuse the second run.",
  claims: ["F3"],
  symptom: "twice",
  engine: "queue",
  messages: ({ run }) => [order(`order-${run}`)],
  disturb: { deliver: 2 },
  expect: {
    pitfall: { "card.charged": 2, "workflow.created": 2 },
    fix: { "card.charged": 1, "workflow.created": 1 },
    solved: [{ "card.charged": 1 }],
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
