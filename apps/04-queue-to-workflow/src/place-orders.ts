import { fingerprintOf } from "@durable-lessons/idempotency";
import { lookAt } from "./order-view.ts";
import { acceptOrders, CLOSED, markQueued } from "./orders.ts";
import type { FulfilmentOrder } from "./schemas.ts";

/** What became of an order: taken, known already, failed earlier, or another one under an id that is taken. */
export type Placed = "accepted" | "known" | "failed" | "conflict";

/**
 * Writes orders down and puts them into the queue: all of them, or none.
 *
 * @throws what D1 or the queue throws. Then nobody knows whether the queue has them: what was written down stays, and says
 * so, and the same orders again do no harm
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
  const open = signed.flatMap((entry, nth) => {
    const row = rows.get(entry.orderId);
    return row && fits[nth] && !CLOSED.includes(row.state) ? [{ ...entry, row }] : [];
  });
  // A known order is sent once more until it is started: a client that asks again may not have got an answer, because the
  // first request died between the row and the queue, or the queue did not say whether it has the message.
  const toSend = [
    ...new Map(
      open
        .filter(({ row }) => row.started_at === null)
        .map(({ orderId, order }) => [orderId, order]),
    ),
  ];
  if (toSend.length > 0) {
    await env.ORDERS.sendBatch(toSend.map(([, order]) => ({ body: order })));
    // Only a note: without it the order still says "accepted", and is fulfilled.
    await markQueued(
      env.DB,
      toSend.map(([orderId]) => orderId),
    ).catch((error: unknown) => console.error("queued orders could not be marked", error));
  }

  // What has been started goes on by itself, or it has failed, and nobody would hear of another message.
  const started = open.filter(({ row }) => row.started_at !== null);
  const looks = await Promise.all(started.map(async ({ row }) => lookAt(env, row)));
  const failed = new Set(
    started.filter((_, nth) => looks[nth]?.state === "failed").map(({ orderId }) => orderId),
  );
  return signed.map(({ orderId }, nth) => {
    if (!fits[nth]) return "conflict";
    if (failed.has(orderId)) return "failed";
    return added.delete(orderId) ? "accepted" : "known";
  });
}
