import { createInstanceOnce } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { FulfilmentOrder } from "../../schemas.ts";

export async function consume(batch: MessageBatch<FulfilmentOrder>, env: { WORKFLOW: Workflow }) {
  for (const { body } of batch.messages) {
    await createInstanceOnce(env.WORKFLOW, { id: body.orderId, params: body });
  }
}

export async function run(
  event: WorkflowEvent<FulfilmentOrder>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { orderId, card, cents, lines } = event.payload;
  await step.do("reserve stock", () => env.stock.reserve({ orderId, lines }));
  await step.do("charge card", () => env.payments.charge({ orderId, card, cents }));
  await step.do("ship parcel", () => env.carrier.ship({ orderId }));
}
