import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "one-step-for-the-whole-run",
  title: "One step for the whole run",
  claim: "If read and load are one step, a failure in the load reads the source again.",
  why: "A retry begins at the first line of the callback. The data that was read is kept only if the read is a step of its own.",
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
