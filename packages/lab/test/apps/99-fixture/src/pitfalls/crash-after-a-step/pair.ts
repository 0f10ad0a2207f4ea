import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "crash-after-a-step",
  title: "Crash after a step",
  claim: "a finished step does not run again",
  why: "its result is read back",
  claims: [],
  engine: "workflow",
  params: ({ run }) => ({ orderId: run }),
  faults: { "carrier.ship": ["hang"] },
  disturb: { crash: { after: "charge" } },
  expect: {
    pitfall: { "card.charged": 1, "parcel.shipped": 1 },
    fix: { "card.charged": 1, "parcel.shipped": 1 },
  },
  pitfall: async () => (await import("../variants.ts")).chargeThenShip,
  fix: async () => (await import("../variants.ts")).chargeWithKeyThenShip,
} satisfies WorkflowPair;
