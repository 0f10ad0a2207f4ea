import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { FulfilmentOrder } from "../../schemas.ts";

/** What both variants start. The row is written by both, and read by one. */
export async function run(
  event: WorkflowEvent<FulfilmentOrder>,
  step: WorkflowStep,
  env: OutsideWorld & { DB: D1Database },
) {
  const { orderId, card, cents } = event.payload;
  // A key for this instance alone: by the time of another one the provider has forgotten it, as it forgets every key
  // after some days.
  const key = `charge-${orderId}-${event.timestamp.getTime()}`;
  await step.do("charge card", () => env.payments.charge({ orderId, card, cents, key }), {
    rollback: async ({ output }) => {
      const charge = output ?? (await env.payments.find({ key }));
      if (charge?.status !== "charged") return;
      await env.payments.refund({ chargeId: charge.chargeId, cents, key: charge.chargeId });
    },
  });

  await step.do("record result", async () => {
    await env.DB.prepare(
      "INSERT INTO finished_orders (order_id) VALUES (?1) ON CONFLICT DO NOTHING",
    )
      .bind(orderId)
      .run();
  });
}
