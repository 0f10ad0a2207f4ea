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
  const { orderId, card, lines } = event.payload;

  await step.do(
    "reserve stock",
    twice,
    (ctx) => env.stock.reserve({ orderId, lines, key: stepKey(event, ctx) }),
    {
      rollback: async () => {
        await env.stock.release({ orderId, key: `release-${orderId}` });
      },
    },
  );

  await step.do(
    "charge card",
    twice,
    (ctx) => env.payments.charge({ orderId, card, cents: 900, key: stepKey(event, ctx) }),
    {
      rollback: async ({ ctx, output }) => {
        // Without an output the card may still have been charged: the answer was lost.
        const charge = output ?? (await env.payments.find({ key: stepKey(event, ctx) }));
        if (charge?.status !== "charged") return;
        const { chargeId } = charge;
        await env.payments.refund({ chargeId, cents: 900, key: chargeId });
      },
    },
  );

  await step.do(
    "ship parcel",
    twice,
    (ctx) => env.carrier.ship({ orderId, key: stepKey(event, ctx) }),
    {
      rollback: async ({ ctx, output }) => {
        const parcel = output ?? (await env.carrier.find({ key: stepKey(event, ctx) }));
        if (!parcel) return;
        await env.carrier.recall({ orderId, key: parcel.parcelId });
      },
    },
  );
}
