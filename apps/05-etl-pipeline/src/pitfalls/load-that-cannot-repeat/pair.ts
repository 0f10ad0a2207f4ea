import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "load-that-cannot-repeat",
  title: "A load that cannot repeat",
  claim: "A plain INSERT doubles the rows when its step is retried.",
  why: "The rows are written, then the step fails, so it runs again. With a key in the table and an upsert the second time changes nothing.",
  claims: ["D4"],
  symptom: "twice",
  engine: "workflow",
  params: ({ run }) => ({ run }),
  faults: { "audit.log": ["fail"] },
  expect: {
    pitfall: { "audit.logged": 1, "output.rows": 6, "output.minor": 600 },
    fix: { "audit.logged": 1, "output.rows": 3, "output.minor": 300 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
