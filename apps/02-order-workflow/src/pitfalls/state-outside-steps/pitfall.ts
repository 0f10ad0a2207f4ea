import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { OrderRequest } from "../../schemas.ts";

export async function run(
  event: WorkflowEvent<OrderRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { orderId, lines } = event.payload;

  const reserved: string[] = [];
  for (const line of lines) {
    await step.do(`reserve ${line.sku}`, async (ctx) => {
      await env.stock.reserve({ orderId, lines: [line], key: stepKey(event, ctx) });
      reserved.push(line.sku);
    });
  }

  return { lines: reserved.length };
}
