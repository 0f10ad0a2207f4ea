import { createInstanceOnce, instanceIdFor } from "@durable-lessons/idempotency";
import * as v from "valibot";
import { flowRequest } from "./workflow.ts";

export { run } from "./workflow.ts";

export async function consume(batch: MessageBatch, env: { WORKFLOW: Workflow }) {
  for (const message of batch.messages) {
    try {
      const params = v.parse(flowRequest, message.body);
      const id = await instanceIdFor(params.flow, params.orderId);
      await createInstanceOnce(env.WORKFLOW, { id, params });
    } catch {
      message.retry();
    }
  }
}
