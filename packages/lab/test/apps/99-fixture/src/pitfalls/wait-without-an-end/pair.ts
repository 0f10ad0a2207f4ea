import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "wait-without-an-end",
  title: "A wait without an end",
  claim: "a wait without a timeout ends when an event comes",
  why: "nobody sends one",
  claims: [],
  engine: "workflow",
  params: ({ run }) => ({ orderId: run }),
  expect: {
    pitfall: { status: "waiting", "email.sent": 1 },
    fix: { "email.sent": 1, "output.answered": false },
  },
  pitfall: async () => (await import("../variants.ts")).waitsForEver,
  fix: async () => (await import("../variants.ts")).waitsForASecond,
} satisfies WorkflowPair;
