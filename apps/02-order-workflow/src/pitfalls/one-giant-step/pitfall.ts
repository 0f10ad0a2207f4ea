import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { OrderRequest } from "../../schemas.ts";

const thrice = { retries: { limit: 2, delay: 100 } };

export async function run(
  event: WorkflowEvent<OrderRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { orderId, card } = event.payload;

  await step.do("charge card and ship parcel", thrice, async () => {
    await env.payments.charge({ orderId, card, cents: 900 });
    await env.carrier.ship({ orderId });
  });
}
