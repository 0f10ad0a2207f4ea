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
  // Without a key: by now the provider has forgotten it, as it forgets every key after some days.
  await step.do("charge card", () => env.payments.charge({ orderId, card, cents }));

  await step.do("record result", async () => {
    await env.DB.prepare(
      "INSERT INTO finished_orders (order_id) VALUES (?1) ON CONFLICT DO NOTHING",
    )
      .bind(orderId)
      .run();
  });
}
