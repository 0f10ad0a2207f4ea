import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { OnboardingRequest } from "../../schemas.ts";

const thrice = { retries: { limit: 2, delay: 100 } };

export async function run(
  event: WorkflowEvent<OnboardingRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { userId, email } = event.payload;

  await step.do("send welcome mail", thrice, async (ctx) => {
    const key = stepKey(event, ctx);
    const mail = { to: email, subject: "Welcome", text: `Hello ${userId}`, key };
    const { messageId } = await env.mail.send(mail);
    return { messageId };
  });

  await step.do("open account", (ctx) => env.accounts.open({ userId, key: stepKey(event, ctx) }));
}
