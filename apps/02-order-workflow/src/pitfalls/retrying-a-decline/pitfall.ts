import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { OrderRequest } from "../../schemas.ts";

const retryPolicy = { retries: { limit: 3, delay: 100, backoff: "constant" } } as const;

export async function run(
  event: WorkflowEvent<OrderRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { orderId, card } = event.payload;

  await step.do("charge card", retryPolicy, async (ctx) => {
    // Under one key the bank would repeat its first answer.
    const key = `${stepKey(event, ctx)}:${ctx.attempt}`;
    const charge = await env.payments.charge({ orderId, card, cents: 900, key });
    if (charge.status === "declined") throw new Error(charge.message);
    return charge;
  });
}
