import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { FulfilmentOrder } from "@durable-lessons/types";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";

/** What several pairs start. */
export async function run(
  event: WorkflowEvent<FulfilmentOrder>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { orderId, card, cents } = event.payload;
  await step.do("charge card", (ctx) =>
    env.payments.charge({ orderId, card, cents, key: stepKey(event, ctx) }),
  );
}
