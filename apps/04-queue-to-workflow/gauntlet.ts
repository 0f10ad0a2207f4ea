import type { LessonFlows } from "@durable-lessons/lab/flow";
import { fulfilmentId } from "./src/consume-orders.ts";

/** How the gauntlet starts this lesson's own code. */
export default {
  flows: [
    {
      name: "a fulfilment",
      workflow: "FULFILMENT",
      runOf: fulfilmentId,
      start: (lesson, id) =>
        lesson.send("POST", "/orders", {
          orderId: id,
          card: "tok_visa",
          cents: 900,
          lines: [{ sku: "tea", quantity: 1 }],
        }),
    },
  ],
} satisfies LessonFlows;
