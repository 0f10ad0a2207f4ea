import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "many-steps",
  title: "Many steps",
  claim: "a step is counted once, however often it is tried; a sleep is none",
  why: "the platform has an event for each",
  claims: [],
  engine: "workflow",
  params: ({ run }) => ({ orderId: run }),
  faults: { "mail.send": ["fail"] },
  expect: {
    pitfall: { "email.sent": 3, "workflow.step-started": 3 },
    fix: { "email.sent": 1, "workflow.step-started": 1 },
  },
  pitfall: async () => (await import("../variants.ts")).threeSteps,
  fix: async () => (await import("../variants.ts")).oneStep,
} satisfies WorkflowPair;
