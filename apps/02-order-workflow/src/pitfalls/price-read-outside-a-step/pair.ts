import type { WorkflowPair } from "@durable-lessons/lab";
import { orderOf } from "../order.ts";

export default {
  id: "price-read-outside-a-step",
  title: "A price read outside a step",
  claim: "A value that is read outside a step can be different on replay.",
  why: "The first sale of a product ends its early-bird price. The replay reads the price after that; the quote was sent before.",
  claims: ["B15", "B23"],
  symptom: "wrong",
  engine: "workflow",
  params: (context) => ({ ...orderOf(context), product: context.run }),
  faults: { "payments.charge": ["hang"] },
  disturb: { crash: { during: "charge card" } },
  expect: {
    pitfall: {
      "email.sent": 1,
      "card.charged": 1,
      "output.quotedCents": 900,
      "output.chargedCents": 1100,
    },
    fix: {
      "email.sent": 1,
      "card.charged": 1,
      "output.quotedCents": 900,
      "output.chargedCents": 900,
    },
  },
  exceptions: [
    {
      trial: "restarted after its end",
      breaks: "undone-leaves-nothing",
      because:
        "The price is read anew: the provider refuses another sum under the same key, and the run is errored.",
      cure: "02/restart-from-scratch",
    },
  ],
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
