import type { QueuePair } from "@durable-lessons/lab";
import { order } from "../order.ts";

export default {
  id: "state-machine-in-messages",
  title: "A state machine in messages",
  claim: "Progress kept in messages repeats with them: one redelivery is a whole second order.",
  why: "A message says what comes next, not whether it has been done. A Workflow stores both, and the queue only starts it.",
  claims: ["B34"],
  symptom: "twice",
  engine: "queue",
  messages: ({ run }) => [order(`order-${run}`)],
  disturb: { deliver: 2 },
  expect: {
    pitfall: { "stock.reserved": 2, "card.charged": 2, "parcel.shipped": 2 },
    fix: { "stock.reserved": 1, "card.charged": 1, "parcel.shipped": 1 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
