import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "result-that-cannot-be-stored",
  title: "A result that cannot be stored",
  claim: "A step whose result cannot be stored has failed, although its effect has happened.",
  why: "What a step returns is copied into the storage of the run, and an instance of a class cannot be copied. The step throws after its effect, every retry repeats that, and the run ends there.",
  claims: ["A21"],
  symptom: "stopped",
  engine: "workflow",
  params: ({ run }) => ({ userId: run, email: "ada@example.com", planType: "pro" }),
  expect: {
    pitfall: { status: "errored", "email.sent": 1, "account.opened": 0 },
    fix: { status: "complete", "email.sent": 1, "account.opened": 1 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
