import { createInstanceOnce } from "@durable-lessons/idempotency";
import { ordersIn } from "../orders-in.ts";

export { run } from "./workflow.ts";

export async function consume(batch: MessageBatch, env: { WORKFLOW: Workflow }) {
  for (const { message, order } of ordersIn(batch)) {
    try {
      await createInstanceOnce(env.WORKFLOW, { id: order.orderId, params: order });
    } catch {
      message.retry();
    }
  }
}
