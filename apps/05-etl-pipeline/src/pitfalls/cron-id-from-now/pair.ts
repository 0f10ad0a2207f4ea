import type { HttpPair } from "@durable-lessons/lab";

export default {
  id: "cron-id-from-now",
  title: "A cron id from now",
  claim: "With an id made from the clock, a schedule that fires twice starts two runs.",
  why: "No schedule promises to fire exactly once. The scheduled time is the same both times; the clock is not.",
  claims: ["D5"],
  symptom: "twice",
  engine: "http",
  body: () => ({ cron: "0 3 * * *", scheduledTime: Date.UTC(2026, 10, 29, 3) }),
  disturb: { deliver: 2 },
  expect: {
    pitfall: { "rows.loaded": 2, "workflow.created": 2 },
    fix: { "rows.loaded": 1, "workflow.created": 1 },
    solved: [{ "rows.loaded": 1 }],
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies HttpPair;
