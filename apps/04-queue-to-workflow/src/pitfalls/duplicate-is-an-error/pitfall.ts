import type { FulfilmentOrder } from "../../schemas.ts";

export { run } from "../charge.ts";

export async function consume(batch: MessageBatch<FulfilmentOrder>, env: { WORKFLOW: Workflow }) {
  for (const { body } of batch.messages) {
    await env.WORKFLOW.create({ id: body.orderId, params: body });
  }
}
