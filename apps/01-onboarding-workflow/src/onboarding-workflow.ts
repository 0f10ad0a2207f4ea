import { outsideWorld } from "@durable-lessons/outside-world";
import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import type { OnboardingRequest } from "./schemas.ts";

/** A new user: save the record, prepare the welcome, send the email. */
export class OnboardingWorkflow extends WorkflowEntrypoint<Env, OnboardingRequest> {
  override async run(event: WorkflowEvent<OnboardingRequest>, step: WorkflowStep) {
    const { userId, email, planType } = event.payload;
    const { mail } = outsideWorld(this.env, event.instanceId);

    await step.do("save user record", async () => {
      // A step may run more than once, so its write must be safe to repeat.
      await this.env.DB.prepare(
        `INSERT INTO users (user_id, email, plan_type, created_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (user_id) DO NOTHING`,
      )
        .bind(userId, email, planType, Date.now())
        .run();
    });

    const welcome = await step.do("prepare welcome mail", async () => ({
      subject: planType === "pro" ? "Welcome to Pro" : "Welcome",
      // No text from the request: whoever gets this email may not have asked for it.
      text: `Hello, your account has been ready since ${new Date().toISOString()}.`,
    }));

    const { messageId } = await step.do("send welcome mail", async () => {
      // If the runtime is killed between the email and the end of this step, the step runs again. The provider then
      // knows the key, and sends nothing.
      const key = `${event.instanceId}/send welcome mail`;
      return mail.send({ to: email, ...welcome, key });
    });

    return { userId, messageId };
  }
}
