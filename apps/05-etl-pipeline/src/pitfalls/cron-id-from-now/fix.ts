import { createInstanceOnce } from "@durable-lessons/idempotency";
import type { Firing } from "./workflow.ts";

export { run } from "./workflow.ts";

export async function handle(request: Request, env: { WORKFLOW: Workflow }): Promise<Response> {
  const firing = await request.json<Firing>();
  const id = `etl-${firing.scheduledTime}`;
  await createInstanceOnce(env.WORKFLOW, { id, params: firing });
  return new Response(null, { status: 202 });
}
