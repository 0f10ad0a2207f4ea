import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { OnboardingRequest } from "../../schemas.ts";

type Params = OnboardingRequest & { offerEndsAt: number };

export async function run(event: WorkflowEvent<Params>, step: WorkflowStep, env: OutsideWorld) {
  const { userId, email, offerEndsAt } = event.payload;
  const text = `Hello ${userId}`;

  const offerIsOn = await step.do("check offer", async () => Date.now() < offerEndsAt);
  if (offerIsOn) {
    await step.do("send mail with offer", (ctx) =>
      env.mail.send({ to: email, subject: "Half price today", text, key: stepKey(event, ctx) }),
    );
  } else {
    await step.do("send mail without offer", (ctx) =>
      env.mail.send({ to: email, subject: "Welcome", text, key: stepKey(event, ctx) }),
    );
  }

  await step.do("open account", (ctx) => env.accounts.open({ userId, key: stepKey(event, ctx) }));
}
