import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "whole-file-as-step-result",
  title: "A whole file as a step's result",
  claim: "A step that returns a file exceeds the 1 MiB that production accepts.",
  why: "The platform stores what a step returns, up to 1 MiB. The local engine accepts more, so nothing fails before the deploy. A key in R2 is a result of a few bytes.",
  claims: ["D2"],
  symptom: "stopped",
  engine: "workflow",
  params: ({ run }) => ({ key: `pitfalls/${run}/sales.csv` }),
  expect: {
    pitfall: { "source.read": 1, "rows.loaded": 1, "output.resultsOver1MiB": 1 },
    fix: { "source.read": 1, "rows.loaded": 1, "output.resultsOver1MiB": 0 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
