import { fingerprintOf } from "@durable-lessons/idempotency";
import { acceptOrders, CLOSED, markQueued, takeBack } from "./orders.ts";
import type { FulfilmentOrder } from "./schemas.ts";

/** What became of an order: taken, known already, or another one under an id that is taken. */
export type Placed = "accepted" | "known" | "conflict";

/**
 * Writes orders down and puts them into the queue: all of them, or none.
 *
 * @throws what D1 or the queue throws. Then nothing has happened, or it can be asked for again without harm
 */
export async function placeOrders(env: Env, orders: FulfilmentOrder[]): Promise<Placed[]> {
  const signed = await Promise.all(
    orders.map(async (order) => ({
      orderId: order.orderId,
      fingerprint: await fingerprintOf(order),
      order,
    })),
  );
  const written = signed.map(({ orderId, fingerprint }) => ({ orderId, fingerprint }));
  const { rows, added } = await acceptOrders(env.DB, written);

  // The row decides which of two orders with one id is the order. Nobody can do that later: their messages may overtake
  // each other.
  const fits = signed.map(
    ({ orderId, fingerprint }) => rows.get(orderId)?.fingerprint === fingerprint,
  );
  // A known order is sent once more while it is open: a client that asks again may not have got an answer, because the
  // first request died between the row and the queue.
  const open = signed.filter(({ orderId }, nth) => {
    const state = rows.get(orderId)?.state;
    return fits[nth] && state && !CLOSED.includes(state);
  });
  const toSend = [...new Map(open.map((entry) => [entry.orderId, entry])).values()];

  if (toSend.length > 0) {
    try {
      await env.ORDERS.sendBatch(toSend.map(({ order }) => ({ body: order })));
    } catch (error) {
      await takeBack(env.DB, added);
      throw error;
    }
    // Only a note: without it the order still says "accepted", and is fulfilled.
    await markQueued(
      env.DB,
      toSend.map(({ orderId, fingerprint }) => ({ orderId, fingerprint })),
    ).catch((error: unknown) => console.error("queued orders could not be marked", error));
  }
  return signed.map(({ orderId }, nth) => {
    if (!fits[nth]) return "conflict";
    return added.delete(orderId) ? "accepted" : "known";
  });
}
