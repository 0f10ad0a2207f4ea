import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { OrderRequest } from "../../schemas.ts";

const twice = { retries: { limit: 1, delay: 100 } };

export async function run(
  event: WorkflowEvent<OrderRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { orderId, lines } = event.payload;

  await step.do("reserve stock", twice, () => env.stock.reserve({ orderId, lines }), {
    rollback: async () => {
      await env.stock.release({ orderId });
    },
  });

  await step.do("ship parcel", twice, () => env.carrier.ship({ orderId }), {
    rollback: async ({ output }) => {
      if (!output) return;
      await env.carrier.recall({ orderId, key: output.parcelId });
    },
    rollbackConfig: twice,
  });
}
