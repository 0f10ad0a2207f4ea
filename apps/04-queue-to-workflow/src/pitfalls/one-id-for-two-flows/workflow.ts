import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import * as v from "valibot";

/** What is asked for: an order, or its return. */
export const flowRequest = v.strictObject({
  flow: v.picklist(["order", "return"]),
  orderId: v.string(),
});

/** What both variants start: a parcel out, or a parcel back. */
export async function run(
  event: WorkflowEvent<v.InferOutput<typeof flowRequest>>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { flow, orderId } = event.payload;
  if (flow === "order") {
    await step.do("ship parcel", (ctx) => env.carrier.ship({ orderId, key: stepKey(event, ctx) }));
  } else {
    await step.do("recall parcel", (ctx) =>
      env.carrier.recall({ orderId, key: stepKey(event, ctx) }),
    );
  }
}
