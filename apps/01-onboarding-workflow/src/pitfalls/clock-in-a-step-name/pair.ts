import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "clock-in-a-step-name",
  title: "The clock in a step's name",
  claim:
    "A step's name is its cache key: with another name on replay the finished step runs again.",
  why: "The engine looks up a result by the step's name and count. A new name has no result yet.",
  claims: ["A8"],
  symptom: "twice",
  engine: "workflow",
  params: ({ run }) => ({ userId: run, email: "ada@example.com", planType: "pro" }),
  faults: { "mail.send": ["hang"] },
  disturb: { crash: { during: "send welcome mail" } },
  expect: {
    pitfall: { "account.opened": 2, "email.sent": 1 },
    fix: { "account.opened": 1, "email.sent": 1 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
