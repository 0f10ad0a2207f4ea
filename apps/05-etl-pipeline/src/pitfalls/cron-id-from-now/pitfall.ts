import { createInstanceOnce } from "@durable-lessons/idempotency";
import { issuesAsText } from "@durable-lessons/worker-helpers/http";
import * as v from "valibot";
import { firingOfCron } from "./workflow.ts";

export { run } from "./workflow.ts";

export async function handle(request: Request, env: { WORKFLOW: Workflow }): Promise<Response> {
  const firing = v.safeParse(firingOfCron, await request.json().catch(() => null));
  if (!firing.success)
    return Response.json({ error: issuesAsText(firing.issues) }, { status: 400 });

  const id = `etl-${Date.now()}`;
  await createInstanceOnce(env.WORKFLOW, { id, params: firing.output });
  return new Response(null, { status: 202 });
}
