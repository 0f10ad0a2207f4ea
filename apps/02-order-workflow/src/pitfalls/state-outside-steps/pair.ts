import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "state-outside-steps",
  title: "State outside steps",
  claim: "What a step puts into a variable is lost in a crash; what it returns is kept.",
  why: "The replay returns the stored results and skips the callbacks, so the list starts empty and gets only what runs after the crash.",
  claims: ["B12"],
  symptom: "vanished",
  engine: "workflow",

  params: ({ run }) => ({
    orderId: run,
    email: "ada@example.com",
    card: "tok_visa",
    lines: ["tea", "teapot", "cup"].map((sku) => ({ sku, quantity: 1 })),
  }),
  faults: { "stock.reserve": ["ok", "ok", "hang"] },
  disturb: { crash: { during: "reserve cup" } },
  expect: {
    pitfall: { "stock.reserved": 3, "output.lines": 1 },
    fix: { "stock.reserved": 3, "output.lines": 3 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
