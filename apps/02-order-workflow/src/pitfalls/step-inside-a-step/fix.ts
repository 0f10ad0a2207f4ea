import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { OrderRequest } from "../../schemas.ts";

const twice = { retries: { limit: 1, delay: 100 } };

export async function run(
  event: WorkflowEvent<OrderRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { orderId, card } = event.payload;

  await step.do("charge card", twice, (ctx) =>
    env.payments.charge({ orderId, card, cents: 900, key: stepKey(event, ctx) }),
  );

  await step.do("ship parcel", twice, (ctx) =>
    env.carrier.ship({ orderId, key: stepKey(event, ctx) }),
  );
}
