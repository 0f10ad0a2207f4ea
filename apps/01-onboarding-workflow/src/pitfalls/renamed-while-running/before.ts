import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { OnboardingRequest } from "../../schemas.ts";

/** What was deployed when the run began. */
export async function run(
  event: WorkflowEvent<OnboardingRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { userId, email } = event.payload;

  await step.do("send mail", (ctx) => {
    const key = stepKey(event, ctx);
    return env.mail.send({ to: email, subject: "Welcome", text: userId, key });
  });

  await step.do("open account", (ctx) => env.accounts.open({ userId, key: stepKey(event, ctx) }));
}
