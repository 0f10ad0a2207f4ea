import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "one-id-for-two-flows",
  title: "One id for two flows",
  claim:
    "An order and its return need two ids: with one id, the second flow looks like a duplicate.",
  why: "The id says what was asked for, so the purpose belongs in it. A duplicate counts as a success, so nobody notices that it was none.",
  claims: ["B26"],
  symptom: "vanished",
  engine: "queue",
  messages: ({ run }) => [
    { flow: "order", orderId: `order-${run}` },
    { flow: "return", orderId: `order-${run}` },
  ],
  expect: {
    pitfall: { "workflow.created": 1, "parcel.shipped": 1, "parcel.recalled": 0 },
    fix: { "workflow.created": 2, "parcel.shipped": 1, "parcel.recalled": 1 },
    solved: [{ "parcel.shipped": 1, "parcel.recalled": 1 }],
  },
  exceptions: [
    {
      trial: "carrier.recall always fails",
      breaks: "undone-leaves-nothing",
      because:
        "The carrier takes nothing back: the return's instance has failed, and the parcel is still out.",
      cure: "02/undo-that-throws",
    },
  ],
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
