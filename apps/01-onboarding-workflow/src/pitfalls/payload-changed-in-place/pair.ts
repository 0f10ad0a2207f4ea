import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "payload-changed-in-place",
  title: "A payload changed in place",
  claim:
    "event.payload is what the run was started with, on every replay: what a step writes into it is gone.",
  why: "The finished step is not called again, so nobody writes into the new payload. Only what a step returns is stored.",
  claims: ["A20"],
  symptom: "wrong",
  engine: "workflow",
  params: ({ run }) => ({ userId: run, email: "ada@example.com", planType: "basic" }),
  faults: { "accounts.open": ["hang"] },
  disturb: { crash: { during: "open account" } },
  expect: {
    pitfall: { "account.opened": 1, "email.sent": 1, "output.planType": "basic" },
    fix: { "account.opened": 1, "email.sent": 1, "output.planType": "pro" },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
