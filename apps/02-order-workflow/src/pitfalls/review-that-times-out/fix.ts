import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import { EVENTS } from "../../events.ts";
import type { OrderRequest } from "../../schemas.ts";

export async function run(
  event: WorkflowEvent<OrderRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { orderId, lines } = event.payload;

  await step.do("reserve stock", () => env.stock.reserve({ orderId, lines }));

  try {
    await step.waitForEvent("wait for review", { type: EVENTS.orderReview, timeout: 1000 });
  } catch (error) {
    if (!String(error).includes("WorkflowTimeoutError")) throw error;
    await step.do("release stock", () => env.stock.release({ orderId }));
    return;
  }

  await step.do("ship parcel", () => env.carrier.ship({ orderId }));
}
