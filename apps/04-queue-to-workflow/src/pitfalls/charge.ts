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
  await step.do("charge card", (ctx) =>
    env.payments.charge({ orderId, card, cents, key: stepKey(event, ctx) }),
  );
}
