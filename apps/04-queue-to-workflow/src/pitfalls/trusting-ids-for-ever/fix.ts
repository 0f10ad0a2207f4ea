import { createInstanceOnce } from "@durable-lessons/idempotency";
import { ordersIn } from "../orders-in.ts";

export { run } from "./workflow.ts";

export async function consume(batch: MessageBatch, env: { WORKFLOW: Workflow; DB: D1Database }) {
  for (const { message, order } of ordersIn(batch)) {
    try {
      if (await isFinished(order.orderId, env.DB)) continue;
      await createInstanceOnce(env.WORKFLOW, { id: order.orderId, params: order });
    } catch {
      message.retry();
    }
  }
}

async function isFinished(orderId: string, db: D1Database) {
  const row = await db
    .prepare("SELECT 1 FROM finished_orders WHERE order_id = ?1")
    .bind(orderId)
    .first();
  return row !== null;
}
