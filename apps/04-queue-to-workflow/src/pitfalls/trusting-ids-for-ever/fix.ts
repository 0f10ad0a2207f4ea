import { createInstanceOnce } from "@durable-lessons/idempotency";
import type { FulfilmentOrder } from "../../schemas.ts";

export { run } from "./workflow.ts";

export async function consume(
  batch: MessageBatch<FulfilmentOrder>,
  env: { WORKFLOW: Workflow; DB: D1Database },
) {
  for (const { body } of batch.messages) {
    if (await isFinished(body.orderId, env.DB)) continue;
    await createInstanceOnce(env.WORKFLOW, { id: body.orderId, params: body });
  }
}

async function isFinished(orderId: string, db: D1Database) {
  const row = await db
    .prepare("SELECT 1 FROM finished_orders WHERE order_id = ?1")
    .bind(orderId)
    .first();
  return row !== null;
}
