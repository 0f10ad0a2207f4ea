import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "event-twice",
  title: "An event twice",
  claim: "events queue per type",
  why: "the second one waits for the next wait of its type",
  claims: [],
  engine: "workflow",
  params: ({ run }) => ({ orderId: run }),
  disturb: { sendEvent: { type: "review", payload: { approved: true }, times: 2 } },
  expect: {
    pitfall: { "parcel.shipped": 1, "output.shipped": true },
    fix: { "output.shipped": false },
  },
  pitfall: async () => (await import("../variants.ts")).sameTypeTwice,
  fix: async () => (await import("../variants.ts")).anotherType,
} satisfies WorkflowPair;
