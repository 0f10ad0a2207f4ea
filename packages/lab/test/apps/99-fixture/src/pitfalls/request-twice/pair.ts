import type { HttpPair } from "@durable-lessons/lab";

export default {
  id: "request-twice",
  title: "A request twice",
  claim: "without an id the second request starts a second run",
  why: "the platform makes up an id",
  claims: [],
  engine: "http",
  body: () => ({}),
  disturb: { deliver: 2 },
  expect: {
    pitfall: { "email.sent": 2, "workflow.created": 2, "output.responses.1.status": 202 },
    fix: { "email.sent": 1, "workflow.created": 1, "output.responses.1.status": 200 },
  },
  pitfall: async () => (await import("../variants.ts")).randomId,
  fix: async () => (await import("../variants.ts")).sameId,
} satisfies HttpPair;
