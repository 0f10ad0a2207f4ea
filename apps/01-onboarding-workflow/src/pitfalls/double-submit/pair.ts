import type { HttpPair } from "@durable-lessons/lab";

export default {
  id: "double-submit",
  title: "The double click",
  claim: "A business key as the instance id makes the second click harmless.",
  why: "Without an id every create starts a new run. An id that exists is refused, and here that refusal means success.",
  claims: ["A11"],
  symptom: "twice",
  engine: "http",
  body: ({ run }) => ({ userId: run, email: "ada@example.com", planType: "pro" }),
  disturb: { deliver: 2 },
  expect: {
    pitfall: { "email.sent": 2, "workflow.created": 2 },
    fix: { "email.sent": 1, "workflow.created": 1 },
    solved: [{ "email.sent": 1 }],
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies HttpPair;
