import { createInstanceOnce } from "@durable-lessons/idempotency";
import { ordersIn } from "../orders-in.ts";

export { run } from "../charge.ts";

export async function consume(batch: MessageBatch, env: { WORKFLOW: Workflow }) {
  for (const { order } of ordersIn(batch)) {
    await createInstanceOnce(env.WORKFLOW, { id: order.orderId, params: order });
  }
}
