import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { OrderRequest } from "../../schemas.ts";

export async function run(
  event: WorkflowEvent<OrderRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { orderId, email } = event.payload;

  const shipping = step.do("ship parcel", (ctx) =>
    env.carrier.ship({ orderId, key: stepKey(event, ctx) }),
  );
  const deadline = step.sleep("wait for carrier", 1000);
  const isInTime = await Promise.race([shipping.then(() => true), deadline.then(() => false)]);
  if (isInTime) return;

  await step.do("send mail", (ctx) => {
    const key = stepKey(event, ctx);
    return env.mail.send({ to: email, subject: "We could not ship it", text: orderId, key });
  });
}
