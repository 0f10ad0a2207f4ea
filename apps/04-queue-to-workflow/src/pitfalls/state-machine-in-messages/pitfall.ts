import type { OutsideWorld } from "@durable-lessons/outside-world";
import * as v from "valibot";
import { orderFields } from "../../schemas.ts";

const progress = v.strictObject({
  ...orderFields,
  next: v.optional(v.picklist(["charge", "ship"])),
});
type Progress = v.InferOutput<typeof progress>;

export async function consume(batch: MessageBatch, env: OutsideWorld & { QUEUE: Queue<Progress> }) {
  for (const message of batch.messages) {
    try {
      const order = v.parse(progress, message.body);
      const { orderId, card, cents, lines, next } = order;
      switch (next) {
        case undefined:
          await env.stock.reserve({ orderId, lines });
          await env.QUEUE.send({ ...order, next: "charge" });
          break;
        case "charge":
          await env.payments.charge({ orderId, card, cents });
          await env.QUEUE.send({ ...order, next: "ship" });
          break;
        case "ship":
          await env.carrier.ship({ orderId });
          break;
      }
    } catch {
      message.retry();
    }
  }
}
