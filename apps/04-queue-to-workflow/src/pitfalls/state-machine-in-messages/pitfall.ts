import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { FulfilmentOrder } from "../../schemas.ts";

type Progress = FulfilmentOrder & { next?: "charge" | "ship" };

export async function consume(
  batch: MessageBatch<Progress>,
  env: OutsideWorld & { QUEUE: Queue<Progress> },
) {
  for (const { body } of batch.messages) {
    const { orderId, card, cents, lines } = body;
    switch (body.next) {
      case undefined:
        await env.stock.reserve({ orderId, lines });
        await env.QUEUE.send({ ...body, next: "charge" });
        break;
      case "charge":
        await env.payments.charge({ orderId, card, cents });
        await env.QUEUE.send({ ...body, next: "ship" });
        break;
      case "ship":
        await env.carrier.ship({ orderId });
        break;
    }
  }
}
