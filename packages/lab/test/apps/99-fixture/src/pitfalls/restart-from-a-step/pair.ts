import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "restart-from-a-step",
  title: "Restart from a step",
  claim: "restart({ from }) keeps what came before",
  why: "results of earlier steps stay",
  claims: [],
  engine: "workflow",
  params: ({ run }) => ({ orderId: run }),
  faults: { "carrier.ship": ["fail"] },
  disturb: { restart: { from: "ship" } },
  expect: {
    pitfall: { "card.charged": 2, "parcel.shipped": 1 },
    fix: { "card.charged": 1, "parcel.shipped": 1 },
  },
  pitfall: async () => (await import("../variants.ts")).chargeAndShipInOneStep,
  fix: async () => (await import("../variants.ts")).chargeThenShip,
} satisfies WorkflowPair;
