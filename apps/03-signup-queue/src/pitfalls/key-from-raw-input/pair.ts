import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "key-from-raw-input",
  title: "A key from raw input",
  claim: "One person in two spellings has two keys, unless the spelling is settled first.",
  why: "A key is compared letter by letter. The domain's case, a space, or the two Unicode forms of ü make it another one.",
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
