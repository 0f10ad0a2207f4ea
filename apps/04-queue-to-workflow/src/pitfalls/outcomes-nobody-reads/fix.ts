import { createInstancesOnce } from "@durable-lessons/idempotency";
import { ordersIn } from "../orders-in.ts";

export { run } from "../charge.ts";

export async function consume(batch: MessageBatch, env: { WORKFLOW: Workflow }) {
  const orders = ordersIn(batch);
  const instances = orders.map(({ order }) => ({ id: order.orderId, params: order }));
  const outcomes = await createInstancesOnce(env.WORKFLOW, instances);
  for (const [index, { outcome }] of outcomes.entries()) {
    if (outcome === "failed") orders[index]?.message.retry();
  }
}
