import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { OrderRequest } from "../../schemas.ts";
import { earlyBirdPrice, recordSale } from "./early-bird.ts";

type Params = OrderRequest & { product: string };

export async function run(
  event: WorkflowEvent<Params>,
  step: WorkflowStep,
  env: OutsideWorld & { DB: D1Database },
) {
  const { orderId, email, card, product } = event.payload;

  const cents = await step.do("read price", () => earlyBirdPrice(env.DB, product));

  const quotedCents = await step.do("send quote", async (ctx) => {
    const text = `${cents} cents`;
    await env.mail.send({ to: email, subject: "Your price", text, key: stepKey(event, ctx) });
    return cents;
  });

  await step.do("record sale", () => recordSale(env.DB, product));

  const chargedCents = await step.do("charge card", async (ctx) => {
    await env.payments.charge({ orderId, card, cents, key: stepKey(event, ctx) });
    return cents;
  });

  return { quotedCents, chargedCents };
}
