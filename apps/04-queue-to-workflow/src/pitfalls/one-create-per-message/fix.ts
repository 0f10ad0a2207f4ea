import { createInstancesOnce } from "@durable-lessons/idempotency";
import type { FulfilmentOrder } from "../../schemas.ts";

export async function consume(batch: MessageBatch<FulfilmentOrder>, env: { WORKFLOW: Workflow }) {
  const instances = batch.messages.map(({ body }) => ({ id: body.orderId, params: body }));
  await createInstancesOnce(env.WORKFLOW, instances);
}

export async function run() {
  return "what starts it is the lesson";
}
