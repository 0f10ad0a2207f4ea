import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { OrderRequest } from "../../schemas.ts";

const impatient = { retries: { limit: 1, delay: 100 }, timeout: 2000 };

export async function run(
  event: WorkflowEvent<OrderRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { orderId, card } = event.payload;

  await step.do("charge card", impatient, async () => {
    await env.payments.charge({ orderId, card, cents: 900 });
    await scheduler.wait(5000);
  });

  await step.do("ship parcel", impatient, (ctx) =>
    env.carrier.ship({ orderId, key: stepKey(event, ctx) }),
  );
}
