import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "side-effect-outside-step",
  title: "A side effect outside a step",
  claim: "Code outside step.do runs again on every replay; a finished step does not.",
  why: "After a crash run() starts from its first line. Finished steps return their stored results, everything else runs again.",
  claims: ["A1", "A2", "A4"],
  symptom: "twice",
  engine: "workflow",
  params: ({ run }) => ({ userId: run, email: "ada@example.com", planType: "pro" }),
  faults: { "accounts.open": ["hang"] },
  disturb: { crash: { during: "open account" } },
  expect: {
    pitfall: { "email.sent": 2, "account.opened": 1 },
    fix: { "email.sent": 1, "account.opened": 1 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
