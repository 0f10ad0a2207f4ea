import { issuesAsText } from "@durable-lessons/worker-helpers/http";
import * as v from "valibot";
import { onboardingRequest } from "../../schemas.ts";

export { run } from "./workflow.ts";

export async function handle(request: Request, env: { WORKFLOW: Workflow }): Promise<Response> {
  const user = v.safeParse(onboardingRequest, await request.json().catch(() => null));
  if (!user.success) return Response.json({ error: issuesAsText(user.issues) }, { status: 400 });

  const instance = await env.WORKFLOW.create({ params: user.output });
  return Response.json({ instanceId: instance.id }, { status: 202 });
}
