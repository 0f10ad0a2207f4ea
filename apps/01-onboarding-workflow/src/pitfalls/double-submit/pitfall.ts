import type { OnboardingRequest } from "../../schemas.ts";

export { run } from "./workflow.ts";

export async function handle(request: Request, env: { WORKFLOW: Workflow }): Promise<Response> {
  const user = await request.json<OnboardingRequest>();
  const instance = await env.WORKFLOW.create({ params: user });
  return Response.json({ instanceId: instance.id }, { status: 202 });
}
