import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "counting-in-memory",
  title: "Counting in memory",
  claim: "run() can be called again: what a finished step did to a variable is gone after a crash.",
  why: "The replay returns a finished step's result without running its callback, so the count in the callback is skipped.",
  claims: ["A3", "A7", "A9"],
  symptom: "vanished",
  engine: "workflow",
  params: () => ({ team: ["ada@example.com", "bob@example.com", "eve@example.com"] }),
  faults: { "mail.send": ["ok", "ok", "hang"] },
  disturb: { crash: { during: "send mail to eve@example.com" } },
  expect: {
    pitfall: { "email.sent": 3, "output.sent": 1 },
    fix: { "email.sent": 3, "output.sent": 3 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
