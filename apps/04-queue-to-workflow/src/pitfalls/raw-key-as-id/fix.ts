import { instanceIdFor } from "@durable-lessons/idempotency";
import { ordersIn, retryRefused } from "../orders-in.ts";

export { run } from "../charge.ts";

export async function consume(batch: MessageBatch, env: { WORKFLOW: Workflow }) {
  const orders = ordersIn(batch);
  const instances = await Promise.all(
    orders.map(async ({ order }) => ({
      id: await instanceIdFor("fulfil", order.orderId),
      params: order,
    })),
  );
  try {
    const { errors } = await env.WORKFLOW.createBatch({ instances });
    retryRefused(orders, errors);
  } catch {
    batch.retryAll();
  }
}
