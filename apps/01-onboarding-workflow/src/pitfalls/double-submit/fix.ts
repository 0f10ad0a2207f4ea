import { createInstanceOnce, instanceIdFor } from "@durable-lessons/idempotency";
import type { OnboardingRequest } from "../../schemas.ts";

export { run } from "./workflow.ts";

export async function handle(request: Request, env: { WORKFLOW: Workflow }): Promise<Response> {
  const user = await request.json<OnboardingRequest>();
  const id = await instanceIdFor("onboard", user.userId);
  const { instance } = await createInstanceOnce(env.WORKFLOW, { id, params: user });
  return Response.json({ instanceId: instance.id }, { status: 202 });
}
