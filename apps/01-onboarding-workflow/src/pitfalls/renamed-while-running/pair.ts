import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "renamed-while-running",
  title: "Renamed while running",
  claim: "A finished step that a deploy renames runs again in every instance that is in progress.",
  why: "An instance goes on with the code that is deployed now. Results are found by the name of their step, and under the new name there is none.",
  claims: ["A22"],
  symptom: "twice",
  engine: "workflow",
  params: ({ run }) => ({ userId: run, email: "ada@example.com", planType: "pro" }),
  faults: { "accounts.open": ["hang"] },
  disturb: { crash: { during: "open account" } },
  expect: {
    pitfall: { "email.sent": 2, "account.opened": 1 },
    fix: { "email.sent": 1, "account.opened": 1 },
  },
  before: () => import("./before.ts"),
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
