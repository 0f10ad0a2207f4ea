import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "restart-from-the-beginning",
  title: "Restart from the beginning",
  claim: "restart() keeps nothing",
  why: "results of all steps go",
  claims: [],
  engine: "workflow",
  params: ({ run }) => ({ orderId: run }),
  faults: { "carrier.ship": ["fail"] },
  disturb: { restart: {} },
  expect: {
    pitfall: { "card.charged": 2, "parcel.shipped": 1 },
    fix: { "card.charged": 1, "parcel.shipped": 1 },
  },
  pitfall: async () => (await import("../variants.ts")).chargeThenShip,
  fix: async () => (await import("../variants.ts")).chargeWithKeyThenShip,
} satisfies WorkflowPair;
