import { createInstanceOnce } from "@durable-lessons/idempotency";
import { issuesAsText } from "@durable-lessons/worker-helpers/http";
import * as v from "valibot";
import { orderRequest } from "../../schemas.ts";
import { untilOver } from "./workflow.ts";

export { run } from "./workflow.ts";

export async function handle(request: Request, env: { WORKFLOW: Workflow }): Promise<Response> {
  const order = v.safeParse(orderRequest, await request.json().catch(() => null));
  if (!order.success) return Response.json({ error: issuesAsText(order.issues) }, { status: 400 });

  const { instance, created } = await createInstanceOnce(env.WORKFLOW, {
    id: order.output.orderId,
    params: order.output,
  });
  const status = await untilOver(instance);
  // The second request comes once the carrier is repaired.
  if (!created && status === "errored") await instance.restart({ from: { name: "ship parcel" } });
  return Response.json({ created }, { status: 202 });
}
