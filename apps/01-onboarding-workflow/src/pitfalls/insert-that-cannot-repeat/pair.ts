import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "insert-that-cannot-repeat",
  title: "An insert that cannot repeat",
  claim: "A step may run more than once, so its writes must be safe to repeat.",
  why: "The first attempt inserts a row and then fails. The retry starts the callback from its first line, and collides with that row.",
  claims: ["A17"],
  symptom: "stopped",
  engine: "workflow",
  params: ({ run }) => ({ userId: run, email: "ada@example.com", planType: "pro" }),
  faults: { "accounts.open": ["fail"] },
  expect: {
    pitfall: { status: "errored", "account.opened": 0 },
    fix: { status: "complete", "account.opened": 1 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
