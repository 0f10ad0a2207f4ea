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

  await step.do("charge card", twice, () => env.payments.charge({ orderId, card, cents: 900 }));

  void step.do("send mail", twice, () =>
    env.mail.send({ to: email, subject: "Thank you", text: orderId }),
  );
}
