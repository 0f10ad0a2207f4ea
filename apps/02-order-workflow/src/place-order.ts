import { createInstanceOnce, fingerprintOf, instanceIdFor } from "@durable-lessons/idempotency";
import { findOrder, insertOrder, type OrderRow } from "./orders.ts";
import { priceOf } from "./prices.ts";
import type { OrderRequest } from "./schemas.ts";

/** What became of a request to place an order. */
export type Placed =
  | { state: "conflict" }
  | { state: "unsold"; skus: string[] }
  | { state: "known" | "new"; row: OrderRow };

/** Places an order, once: the row remembers it for longer than the platform remembers the instance. */
export async function placeOrder(env: Env, order: OrderRequest): Promise<Placed> {
  const instanceId = await instanceIdFor("order", order.orderId);
  const fingerprint = await fingerprintOf(order);
  let row = await findOrder(env.DB, order.orderId);
  let isNew = false;
  if (!row) {
    // Priced once: what is charged, what is given back and every restart go by the row.
    const { cents, unsold } = await priceOf(env.DB, order.lines);
    if (unsold.length > 0) return { state: "unsold", skus: unsold };
    const placed = { ...order, instanceId, fingerprint, totalCents: cents };
    ({ row, isNew } = await insertOrder(env.DB, placed));
  }
  if (row.fingerprint !== fingerprint) return { state: "conflict" };
  // Also for a known row: the first request may have died between the row and the instance. But once work has begun,
  // an id without an instance is one that the platform has forgotten, and is not begun again.
  if (row.state === "received") {
    const params = { ...order, totalCents: row.total_cents };
    await createInstanceOnce(env.ORDERS, { id: instanceId, params });
  }
  return { state: isNew ? "new" : "known", row };
}
