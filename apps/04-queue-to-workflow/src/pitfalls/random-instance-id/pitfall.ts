import type { FulfilmentOrder } from "../../schemas.ts";

export { run } from "../charge.ts";

export async function consume(batch: MessageBatch<FulfilmentOrder>, env: { WORKFLOW: Workflow }) {
  const instances = batch.messages.map(({ body }) => ({ params: body }));
  await env.WORKFLOW.createBatch({ instances });
}
