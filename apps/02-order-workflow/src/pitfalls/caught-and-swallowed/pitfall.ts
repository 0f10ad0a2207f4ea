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

  await step.do("charge card", twice, () => env.payments.charge({ orderId, card, cents: 900 }), {
    rollback: async ({ output }) => {
      if (output?.status !== "charged") return;
      await env.payments.refund({ chargeId: output.chargeId, cents: 900 });
    },
  });

  try {
    await step.do("ship parcel", twice, () => env.carrier.ship({ orderId }));
  } catch (error) {
    await step.do("tell customer", () =>
      env.mail.send({ to: email, subject: "No parcel", text: String(error) }),
    );
    return { shipped: false };
  }
  return { shipped: true };
}
