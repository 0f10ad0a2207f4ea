import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "one-step-for-the-whole-run",
  title: "One step for the whole run",
  claim: "A failure in the load reads the source again where both are one step.",
  why: "A retry begins at the first line of the callback. What was read is kept only where the read is a step of its own.",
  claims: ["D1"],
  symptom: "wasteful",
  engine: "workflow",
  faults: { "warehouse.load": ["fail", "fail"] },
  expect: {
    pitfall: { "source.read": 3, "rows.loaded": 1 },
    fix: { "source.read": 1, "rows.loaded": 1 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
