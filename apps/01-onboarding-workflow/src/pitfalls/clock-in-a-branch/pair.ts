import type { WorkflowPair } from "@durable-lessons/lab";

/** How long the offer lasts, from the start of the run. */
const OFFER_MS = 2000;

export default {
  id: "clock-in-a-branch",
  title: "The clock in a branch",
  claim:
    "A branch that depends on the clock can go the other way on replay; one that depends on a step's result cannot.",
  why: "The replay reads the clock again, after the offer has ended. A step's result is stored and never computed again.",
  claims: ["A5", "A6"],
  symptom: "twice",
  engine: "workflow",
  params: ({ run, now }) => ({
    userId: run,
    email: "ada@example.com",
    planType: "pro",
    offerEndsAt: now + OFFER_MS,
  }),
  faults: { "accounts.open": ["hang"] },
  disturb: { crash: { during: "open account" }, wakeAfterMs: OFFER_MS },
  expect: {
    pitfall: { "email.sent": 2, "account.opened": 1 },
    fix: { "email.sent": 1, "account.opened": 1 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
