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

  const shop = await step.waitForEvent("wait for shop", { type: "review" });
  const bank = await step.waitForEvent("wait for bank", { type: "review", timeout: 3000 });
  if (!isYes(shop.payload) || !isYes(bank.payload)) return;

  await step.do("ship parcel", (ctx) => env.carrier.ship({ orderId, key: stepKey(event, ctx) }));
}
