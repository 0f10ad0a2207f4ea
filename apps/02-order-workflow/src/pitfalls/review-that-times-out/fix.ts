import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import { isTimeout } from "../../errors.ts";
import { EVENTS } from "../../events.ts";
import type { OrderRequest } from "../../schemas.ts";
import { isYes } from "../is-yes.ts";

export async function run(
  event: WorkflowEvent<OrderRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { orderId, lines } = event.payload;

  await step.do("reserve stock", (ctx) =>
    env.stock.reserve({ orderId, lines, key: stepKey(event, ctx) }),
  );

  const options = { type: EVENTS.orderReview, timeout: 1000 };
  let approved = false;
  try {
    const { payload } = await step.waitForEvent("wait for review", options);
    approved = isYes(payload);
  } catch (error) {
    if (!isTimeout(error)) throw error;
  }

  if (!approved) {
    await step.do("release stock", (ctx) =>
      env.stock.release({ orderId, key: stepKey(event, ctx) }),
    );
    return;
  }

  await step.do("ship parcel", (ctx) => env.carrier.ship({ orderId, key: stepKey(event, ctx) }));
}
