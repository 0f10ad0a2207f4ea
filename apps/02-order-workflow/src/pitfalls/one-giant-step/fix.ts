import { stepKey } from "@durable-lessons/idempotency";
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

  await step.do("charge card", thrice, (ctx) =>
    env.payments.charge({ orderId, card, cents: 900, key: stepKey(event, ctx) }),
  );
  await step.do("ship parcel", thrice, (ctx) =>
    env.carrier.ship({ orderId, key: stepKey(event, ctx) }),
  );
}
