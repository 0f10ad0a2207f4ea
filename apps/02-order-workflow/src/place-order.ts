import { createInstanceOnce, fingerprintOf, instanceIdFor } from "@durable-lessons/idempotency";
import { insertOrder, type OrderRow } from "./orders.ts";
import type { OrderRequest } from "./schemas.ts";

/** What became of a request to place an order. */
export type Placed = { state: "conflict" } | { state: "known" | "new"; row: OrderRow };

/** Places an order, once: the row remembers it for longer than the platform remembers the instance. */
export async function placeOrder(env: Env, order: OrderRequest): Promise<Placed> {
  const instanceId = await instanceIdFor("order", order.orderId);
  const fingerprint = await fingerprintOf(order);
  const { row, isNew } = await insertOrder(env.DB, { ...order, instanceId, fingerprint });
  if (row.fingerprint !== fingerprint) return { state: "conflict" };
  // Also for a known row: the first request may have died between the row and the instance. But once work has begun,
  // an id without an instance is one that the platform has forgotten, and is not begun again.
  if (row.state === "received")
    await createInstanceOnce(env.ORDERS, { id: instanceId, params: order });
  return { state: isNew ? "new" : "known", row };
}
