import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { OnboardingRequest } from "../../schemas.ts";

type Params = OnboardingRequest & { offerEndsAt: number };

export async function run(event: WorkflowEvent<Params>, step: WorkflowStep, env: OutsideWorld) {
  const { userId, email, offerEndsAt } = event.payload;

  if (Date.now() < offerEndsAt) {
    await step.do("send mail with offer", () =>
      env.mail.send({ to: email, subject: "Half price today", text: `Hello ${userId}` }),
    );
  } else {
    await step.do("send mail without offer", () =>
      env.mail.send({ to: email, subject: "Welcome", text: `Hello ${userId}` }),
    );
  }

  await step.do("open account", () => env.accounts.open({ userId }));
}
