import type { HttpPair } from "@durable-lessons/lab";

export default {
  id: "plain-async-function",
  title: "A plain async function",
  claim:
    "A plain async function forgets its progress, so a client that asks again gets everything done again.",
  why: "Its progress is in memory, and memory dies with the runtime. A Workflow stores every finished step.",
  claims: ["A18"],
  symptom: "twice",
  engine: "http",
  body: ({ run }) => ({ userId: run, email: "ada@example.com", planType: "pro" }),
  faults: { "mail.send": ["hang"] },
  disturb: { crash: { during: "mail.send" } },
  expect: {
    pitfall: { "account.opened": 2, "email.sent": 1 },
    fix: { "account.opened": 1, "email.sent": 1 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies HttpPair;
