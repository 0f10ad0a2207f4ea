import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";

type Params = { team: string[] };

export async function run(event: WorkflowEvent<Params>, step: WorkflowStep, env: OutsideWorld) {
  let sent = 0;
  for (const to of event.payload.team) {
    await step.do(`send mail to ${to}`, async (ctx) => {
      const key = stepKey(event, ctx);
      await env.mail.send({ to, subject: "A new colleague", text: "Say hello", key });
      sent += 1;
    });
  }
  return { sent };
}
