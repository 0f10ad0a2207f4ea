import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { OrderRequest } from "../../schemas.ts";

export async function run(
  event: WorkflowEvent<OrderRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { orderId } = event.payload;

  await step.waitForEvent("wait for shop", { type: "review" });
  await step.waitForEvent("wait for bank", { type: "review", timeout: 3000 });

  await step.do("ship parcel", () => env.carrier.ship({ orderId }));
}
