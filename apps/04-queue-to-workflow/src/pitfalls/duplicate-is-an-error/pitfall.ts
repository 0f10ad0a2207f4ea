import { ordersIn } from "../orders-in.ts";

export { run } from "../charge.ts";

export async function consume(batch: MessageBatch, env: { WORKFLOW: Workflow }) {
  for (const { order } of ordersIn(batch)) {
    await env.WORKFLOW.create({ id: order.orderId, params: order });
  }
}
