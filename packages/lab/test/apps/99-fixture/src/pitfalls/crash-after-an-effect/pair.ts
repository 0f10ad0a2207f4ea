import type { HttpPair } from "@durable-lessons/lab";

export default {
  id: "crash-after-an-effect",
  title: "A crash after an effect",
  claim: "the client cannot know, and asks again",
  why: "the answer died with the runtime",
  claims: [],
  engine: "http",
  body: ({ run }) => ({ userId: run }),
  faults: { "accounts.open": ["hang-after-effect"] },
  disturb: { crash: { after: "accounts.open" } },
  expect: { pitfall: { "account.opened": 2 }, fix: { "account.opened": 1 } },
  pitfall: async () => (await import("../variants.ts")).openWithoutKey,
  fix: async () => (await import("../variants.ts")).openWithKey,
} satisfies HttpPair;
