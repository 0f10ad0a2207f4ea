import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { OrderRequest } from "../../schemas.ts";

const twice = { retries: { limit: 1, delay: 100 } };

export async function run(
  event: WorkflowEvent<OrderRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { orderId, email, card } = event.payload;

  await step.do("charge card", twice, (ctx) =>
    env.payments.charge({ orderId, card, cents: 900, key: stepKey(event, ctx) }),
  );

  await step.do("send mail", twice, (ctx) => {
    const key = stepKey(event, ctx);
    return env.mail.send({ to: email, subject: "Thank you", text: orderId, key });
  });
}
