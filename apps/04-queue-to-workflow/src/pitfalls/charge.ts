import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { FulfilmentOrder } from "../schemas.ts";

/** What several pairs start. */
export async function run(
  event: WorkflowEvent<FulfilmentOrder>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { orderId, card, cents } = event.payload;
  await step.do(
    "charge card",
    (ctx) => env.payments.charge({ orderId, card, cents, key: stepKey(event, ctx) }),
    {
      rollback: async ({ ctx, output }) => {
        // Without an output the card may be charged all the same: the answer was lost.
        const charge = output ?? (await env.payments.find({ key: stepKey(event, ctx) }));
        if (charge?.status !== "charged") return;
        await env.payments.refund({ chargeId: charge.chargeId, cents, key: charge.chargeId });
      },
    },
  );
}
