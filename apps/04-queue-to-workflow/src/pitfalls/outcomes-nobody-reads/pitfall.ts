import { ordersIn } from "../orders-in.ts";

export { run } from "../charge.ts";

export async function consume(batch: MessageBatch, env: { WORKFLOW: Workflow }) {
  const orders = ordersIn(batch);
  const instances = orders.map(({ order }) => ({ id: order.orderId, params: order }));
  try {
    await env.WORKFLOW.createBatch({ instances });
  } catch {
    batch.retryAll();
  }
}
