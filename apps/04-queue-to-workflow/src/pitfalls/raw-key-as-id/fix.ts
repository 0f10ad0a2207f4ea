import { instanceIdFor } from "@durable-lessons/idempotency";
import type { FulfilmentOrder } from "../../schemas.ts";

export { run } from "../charge.ts";

export async function consume(batch: MessageBatch<FulfilmentOrder>, env: { WORKFLOW: Workflow }) {
  const instances = await Promise.all(
    batch.messages.map(async ({ body }) => ({
      id: await instanceIdFor("fulfil", body.orderId),
      params: body,
    })),
  );
  await env.WORKFLOW.createBatch({ instances });
}
