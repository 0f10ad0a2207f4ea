import type { HttpPair } from "@durable-lessons/lab";
import { orderOf } from "../order.ts";

export default {
  id: "restart-from-scratch",
  title: "Restart from scratch",
  claim: "restart() clears everything; restart({ from }) keeps the results before that step.",
  why: "A restart deletes the stored results, of all steps or from the named one on. Then run() starts again, and every step without a result runs.",
  claims: ["B22", "B23", "B24"],
  symptom: "twice",
  engine: "http",
  body: orderOf,
  faults: { "carrier.ship": ["fail", "fail"] },
  disturb: { deliver: 2 },
  expect: {
    pitfall: { "card.charged": 2, "parcel.shipped": 1 },
    fix: { "card.charged": 1, "parcel.shipped": 1 },
  },
  exceptions: [
    {
      trial: "carrier.ship always fails",
      breaks: "undone-leaves-nothing",
      because:
        "The run is errored, and waits for somebody who restarts it or gives the money back.",
      cure: "02/no-way-back",
    },
  ],
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies HttpPair;
