import { findInstance } from "@durable-lessons/worker-helpers/instances";
import * as v from "valibot";
import { fulfilmentId } from "./consume-orders.ts";
import { keepDeadLetters } from "./dead-letters.ts";
import { markDeadLettered, markStarted } from "./orders.ts";
import { fulfilmentOrder } from "./schemas.ts";

/** Keeps every dead letter, and lets its order say so. Sent once more by its client, the order gets another chance. */
export async function consumeDeadLetters(batch: MessageBatch, env: Env): Promise<void> {
  const reason = "The retries of its message are used up. Send the order again.";
  await keepDeadLetters(
    env.DB,
    batch.messages.map((message) => ({ message, reason })),
  );
  const orderIds = batch.messages.flatMap(({ body }) => {
    const order = v.safeParse(fulfilmentOrder, body);
    return order.success ? [order.output.orderId] : [];
  });
  // The message may have died because nobody could note that its order was started.
  const instances = await Promise.all(
    orderIds.map(async (orderId) => findInstance(env.FULFILMENT, await fulfilmentId(orderId))),
  );
  await markStarted(
    env.DB,
    orderIds.filter((_, nth) => instances[nth]),
  );
  await markDeadLettered(env.DB, orderIds, reason);
}
