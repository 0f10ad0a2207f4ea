import { createInstanceOnce, stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { FulfilmentOrder } from "../../schemas.ts";
import { ordersIn } from "../orders-in.ts";

export async function consume(batch: MessageBatch, env: { WORKFLOW: Workflow }) {
  for (const { message, order } of ordersIn(batch)) {
    try {
      await createInstanceOnce(env.WORKFLOW, { id: order.orderId, params: order });
    } catch {
      message.retry();
    }
  }
}

export async function run(
  event: WorkflowEvent<FulfilmentOrder>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { orderId, card, cents, lines } = event.payload;
  await step.do(
    "reserve stock",
    (ctx) => env.stock.reserve({ orderId, lines, key: stepKey(event, ctx) }),
    {
      rollback: async () => {
        await env.stock.release({ orderId, key: `release-${orderId}` });
      },
    },
  );
  await step.do(
    "charge card",
    (ctx) => env.payments.charge({ orderId, card, cents, key: stepKey(event, ctx) }),
    {
      rollback: async ({ ctx, output }) => {
        const charge = output ?? (await env.payments.find({ key: stepKey(event, ctx) }));
        if (charge?.status !== "charged") return;
        await env.payments.refund({ chargeId: charge.chargeId, cents, key: charge.chargeId });
      },
    },
  );
  await step.do("ship parcel", (ctx) => env.carrier.ship({ orderId, key: stepKey(event, ctx) }), {
    rollback: async ({ ctx, output }) => {
      const parcel = output ?? (await env.carrier.find({ key: stepKey(event, ctx) }));
      if (parcel) await env.carrier.recall({ orderId, key: parcel.parcelId });
    },
  });
}
