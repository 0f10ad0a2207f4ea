import type { QueuePair } from "@durable-lessons/lab";
import { order } from "../order.ts";

export default {
  id: "trusting-ids-for-ever",
  title: "Trusting ids forever",
  claim:
    "An id protects only as long as the instance is retained; a row protects until you delete it.",
  why: "The platform keeps a finished instance for days. After that its id is free, and the same message starts a second run.",
  claims: ["F1", "F7"],
  symptom: "twice",
  engine: "queue",
  messages: ({ run }) => [order(run)],
  disturb: { expire: true },
  expect: {
    pitfall: { "card.charged": 2, "workflow.created": 2 },
    fix: { "card.charged": 1, "workflow.created": 1 },
    solved: [{ "card.charged": 1 }],
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
