import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "counting-in-memory",
  title: "Counting in memory",
  claim: "run() is not called once: what a finished step did to a variable is gone after a crash.",
  why: "The replay gives back the result of a finished step without running its callback, so its counting is skipped.",
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
