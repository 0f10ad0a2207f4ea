import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { OrderRequest } from "../../schemas.ts";
import { isYes } from "../is-yes.ts";

export async function run(
  event: WorkflowEvent<OrderRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { orderId } = event.payload;

  const review = await step.waitForEvent("wait for review", { type: "review" });
  if (!isYes(review.payload)) return;

  await step.do("ship parcel", (ctx) => env.carrier.ship({ orderId, key: stepKey(event, ctx) }));
}
