import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { OrderRequest } from "../../schemas.ts";

const twice = { retries: { limit: 1, delay: 100 } };

/** What both variants start, and restart. */
export async function run(
  event: WorkflowEvent<OrderRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { orderId, card } = event.payload;
  // A result like any other: it survives a crash, but not a restart from scratch.
  const key = await step.do("make key", async () => crypto.randomUUID());
  await step.do("charge card", twice, () =>
    env.payments.charge({ orderId, card, cents: 900, key }),
  );
  await step.do("ship parcel", twice, () => env.carrier.ship({ orderId, key: `ship-${key}` }));
}

/** Waits until an instance has ended, and says how. */
export async function untilOver(instance: WorkflowInstance): Promise<string> {
  for (;;) {
    const { status } = await instance.status();
    if (status === "complete" || status === "errored") return status;
    await scheduler.wait(20);
  }
}
