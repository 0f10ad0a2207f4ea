import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "key-from-raw-input",
  title: "A key from raw input",
  claim: "One person in two spellings has two keys, unless the input is normalised first.",
  why: "Keys are compared character by character. The domain's case, a space, or the two Unicode forms of ü make another key.",
  claims: ["C13"],
  symptom: "twice",
  engine: "queue",
  messages: ({ run }) => [
    { email: `j\u00fcrgen+${run}@example.com` },
    { email: ` ju\u0308rgen+${run}@Example.COM ` },
  ],
  expect: {
    pitfall: { "email.sent": 2 },
    fix: { "email.sent": 1 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies QueuePair;
