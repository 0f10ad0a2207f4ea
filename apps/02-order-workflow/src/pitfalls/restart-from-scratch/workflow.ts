import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { OrderRequest } from "../../schemas.ts";

const once = { retries: { limit: 0, delay: 0 } };

/** What both variants start, and restart. */
export async function run(
  event: WorkflowEvent<OrderRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { orderId, card } = event.payload;
  await step.do("charge card", once, () => env.payments.charge({ orderId, card, cents: 900 }));
  await step.do("ship parcel", once, () => env.carrier.ship({ orderId }));
}

/** Waits until an instance has ended, and says how. */
export async function untilOver(instance: WorkflowInstance): Promise<string> {
  for (;;) {
    const { status } = await instance.status();
    if (status === "complete" || status === "errored") return status;
    await scheduler.wait(20);
  }
}
