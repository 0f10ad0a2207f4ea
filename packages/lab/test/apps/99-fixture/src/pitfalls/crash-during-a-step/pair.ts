import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "crash-during-a-step",
  title: "Crash during a step",
  claim: "code outside a step runs again",
  why: "a replay runs run() from its first line",
  claims: [],
  engine: "workflow",
  params: ({ run }) => ({ orderId: run }),
  faults: { "accounts.open": ["hang"] },
  disturb: { crash: { during: "open account" } },
  expect: {
    pitfall: { "email.sent": 2, "account.opened": 1 },
    fix: { "email.sent": 1, "account.opened": 1 },
  },
  pitfall: async () => (await import("../variants.ts")).mailOutsideStep,
  fix: async () => (await import("../variants.ts")).mailInsideStep,
} satisfies WorkflowPair;
