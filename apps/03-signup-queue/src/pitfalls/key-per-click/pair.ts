import type { HttpPair } from "@durable-lessons/lab";

export default {
  id: "key-per-click",
  title: "A key per click",
  claim:
    "A random id per request stops redelivery, not the double click; an id made from the request itself stops both.",
  why: "Two clicks are two messages. Only an id made from person and purpose says that they are the same request.",
  claims: ["C13"],
  symptom: "twice",
  engine: "http",
  queue: {},
  body: ({ run }) => ({ email: `ada+${run}@example.com` }),
  disturb: { deliver: 2 },
  expect: {
    pitfall: { "email.sent": 2, "message.sent": 2 },
    fix: { "email.sent": 1, "message.sent": 2 },
    solved: [{ "email.sent": 1 }],
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies HttpPair;
