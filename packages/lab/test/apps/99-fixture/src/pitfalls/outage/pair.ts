import type { QueuePair } from "@durable-lessons/lab";

export default {
  id: "outage",
  title: "An outage",
  claim: "only retries that wait outlast it",
  why: "what counts are the delays that the consumer asks for",
  claims: [],
  engine: "queue",
  messages: () => ["a"],
  faults: { "mail.send": { always: "fail" } },
  disturb: { outage: { seconds: 2 } },
  expect: {
    pitfall: { "message.retried": 4, "message.dead-lettered": 1 },
    // One second is not enough, two are.
    fix: { "email.sent": 1, "message.retried": 2, "message.acked": 1, "message.dead-lettered": 0 },
  },
  pitfall: async () => (await import("../variants.ts")).retriesAtOnce,
  fix: async () => (await import("../variants.ts")).retriesAfterASecond,
} satisfies QueuePair;
