import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { OnboardingRequest } from "../../schemas.ts";

export async function run(
  event: WorkflowEvent<OnboardingRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { userId, email } = event.payload;

  await step.do(`open account at ${Date.now()}`, () => env.accounts.open({ userId }));

  await step.do("send welcome mail", () =>
    env.mail.send({ to: email, subject: "Welcome", text: `Hello ${userId}` }),
  );
}
