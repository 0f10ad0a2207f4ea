import { createInstanceOnce } from "@durable-lessons/idempotency";
import type { OrderRequest } from "../../schemas.ts";
import { untilOver } from "./workflow.ts";

export { run } from "./workflow.ts";

export async function handle(request: Request, env: { WORKFLOW: Workflow }): Promise<Response> {
  const order = await request.json<OrderRequest>();
  const { instance, created } = await createInstanceOnce(env.WORKFLOW, {
    id: order.orderId,
    params: order,
  });
  // The second request comes once the carrier is repaired.
  if (created) await untilOver(instance);
  else await instance.restart();
  return Response.json({ created }, { status: 202 });
}
