import { createInstanceOnce, instanceIdFor } from "@durable-lessons/idempotency";
import type { Request } from "./workflow.ts";

export { run } from "./workflow.ts";

export async function consume(batch: MessageBatch<Request>, env: { WORKFLOW: Workflow }) {
  for (const { body } of batch.messages) {
    const id = await instanceIdFor(body.flow, body.orderId);
    await createInstanceOnce(env.WORKFLOW, { id, params: body });
  }
}
