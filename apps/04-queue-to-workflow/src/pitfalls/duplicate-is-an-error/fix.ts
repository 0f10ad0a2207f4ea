import { createInstanceOnce } from "@durable-lessons/idempotency";
import type { FulfilmentOrder } from "../../schemas.ts";

export { run } from "../charge.ts";

export async function consume(batch: MessageBatch<FulfilmentOrder>, env: { WORKFLOW: Workflow }) {
  for (const { body } of batch.messages) {
    await createInstanceOnce(env.WORKFLOW, { id: body.orderId, params: body });
  }
}
