import { createInstanceOnce, instanceIdFor, stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import { issuesAsText } from "@durable-lessons/worker-helpers/http";
import * as v from "valibot";
import { onboardingRequest, type OnboardingRequest } from "../../schemas.ts";

export async function handle(request: Request, env: { WORKFLOW: Workflow }): Promise<Response> {
  const user = v.safeParse(onboardingRequest, await request.json().catch(() => null));
  if (!user.success) return Response.json({ error: issuesAsText(user.issues) }, { status: 400 });

  const id = await instanceIdFor("onboard", user.output.userId);
  await createInstanceOnce(env.WORKFLOW, { id, params: user.output });
  return Response.json({ userId: user.output.userId }, { status: 202 });
}

export async function run(
  event: WorkflowEvent<OnboardingRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { userId, email } = event.payload;
  await step.do("open account", (ctx) => env.accounts.open({ userId, key: stepKey(event, ctx) }));
  await step.do("send welcome mail", (ctx) => {
    const key = stepKey(event, ctx);
    return env.mail.send({ to: email, subject: "Welcome", text: `Hello ${userId}`, key });
  });
}
