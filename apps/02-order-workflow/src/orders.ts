import { NonRetryableError } from "cloudflare:workflows";
import type { OrderReview } from "./schemas.ts";

/** The states of an order, in their order. It only moves forward, whatever a retry, a replay or a restart writes again. */
const WAY = ["received", "reserved", "in review", "approved", "shipping", "shipped", "complete"];

/** A row of the table `orders`. Beside those of {@link WAY}, its state may be `declined`, `cancelling`, `cancelled`. */
export interface OrderRow {
  order_id: string;
  instance_id: string;
  fingerprint: string;
  state: string;
  review: string | null;
  total_cents: number;
  parcel_id: string | null;
  reason: string | null;
  created_at: number;
  updated_at: number;
  busy_until: number;
}

/** An order with the instance that works on it, as long as the platform keeps that. */
export interface Order {
  row: OrderRow;
  instance: WorkflowInstance | null;
}

/** Stores the order before any work on it. */
export async function insertOrder(
  db: D1Database,
  order: { orderId: string; instanceId: string; fingerprint: string; totalCents: number },
): Promise<{ row: OrderRow; isNew: boolean }> {
  const inserted = await db
    .prepare(
      `INSERT INTO orders (order_id, instance_id, fingerprint, total_cents, created_at, updated_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?5) ON CONFLICT (order_id) DO NOTHING RETURNING *`,
    )
    .bind(order.orderId, order.instanceId, order.fingerprint, order.totalCents, Date.now())
    .first<OrderRow>();
  const row = inserted ?? (await findOrder(db, order.orderId));
  if (!row) throw new Error(`The order "${order.orderId}" was deleted while it was placed.`);
  return { row, isNew: inserted !== null };
}

/** Finds an order, or null. */
export const findOrder = (db: D1Database, orderId: string): Promise<OrderRow | null> =>
  db.prepare("SELECT * FROM orders WHERE order_id = ?1").bind(orderId).first<OrderRow>();

/**
 * Moves an order on to a state, unless it is there or further already.
 *
 * @throws NonRetryableError where the order is being cancelled or closed: then no more work may be done for it
 */
export async function transitionTo(
  db: D1Database,
  orderId: string,
  state: string,
  { parcelId }: { parcelId?: string } = {},
): Promise<OrderRow> {
  const position = WAY.indexOf(state);
  const moved = await db
    .prepare(
      `UPDATE orders SET state = ?2, updated_at = ?3, parcel_id = COALESCE(?4, parcel_id)
       WHERE order_id = ?1 AND state IN (SELECT value FROM json_each(?5)) RETURNING *`,
    )
    .bind(orderId, state, Date.now(), parcelId ?? null, JSON.stringify(WAY.slice(0, position + 1)))
    .first<OrderRow>();
  const row = moved ?? (await findOrder(db, orderId));
  if (row && WAY.includes(row.state)) return row;
  throw new NonRetryableError(
    `Order ${orderId} is ${row?.state ?? "not there"}: nothing more is done for it.`,
  );
}

/** How long a command may lock an order, in milliseconds: one that takes longer has died. */
const COMMAND_MS = 30_000;

/** Locks an order for one command, and reads it; null while another one holds it. */
export const takeOrder = (db: D1Database, orderId: string): Promise<OrderRow | null> =>
  db
    .prepare(
      "UPDATE orders SET busy_until = ?2 WHERE order_id = ?1 AND busy_until < ?3 RETURNING *",
    )
    .bind(orderId, Date.now() + COMMAND_MS, Date.now())
    .first<OrderRow>();

/** Unlocks an order, unless this command took so long that another one holds it already. */
export async function leaveOrder(db: D1Database, taken: OrderRow): Promise<void> {
  await db
    .prepare("UPDATE orders SET busy_until = 0 WHERE order_id = ?1 AND busy_until = ?2")
    .bind(taken.order_id, taken.busy_until)
    .run();
}

/** Takes the first review of an order that waits for one; false for every later one. */
export async function claimReview(
  db: D1Database,
  orderId: string,
  review: OrderReview,
): Promise<boolean> {
  const { meta } = await db
    .prepare(
      `UPDATE orders SET review = ?2, updated_at = ?3
       WHERE order_id = ?1 AND state = 'in review' AND review IS NULL`,
    )
    .bind(orderId, JSON.stringify(review), Date.now())
    .run();
  return meta.changes === 1;
}

/** Ends the wait: the review that the row holds counts, else this one. The same again changes nothing. */
export async function closeReview(
  db: D1Database,
  orderId: string,
  review: OrderReview,
): Promise<OrderReview> {
  const row = await db
    .prepare("UPDATE orders SET review = COALESCE(review, ?2) WHERE order_id = ?1 RETURNING review")
    .bind(orderId, JSON.stringify(review))
    .first<{ review: string }>();
  return row ? JSON.parse(row.review) : review;
}

/**
 * Begins to cancel an order.
 *
 * @returns false if the parcel has left: then it can no longer be cancelled
 */
export async function markCancelling(
  db: D1Database,
  orderId: string,
  reason: string,
): Promise<boolean> {
  const { meta } = await db
    .prepare(
      `UPDATE orders SET reason = COALESCE(reason, ?2), updated_at = ?3,
         state = CASE WHEN state IN ('cancelled', 'declined') THEN state ELSE 'cancelling' END
       WHERE order_id = ?1 AND state NOT IN ('shipped', 'complete')`,
    )
    .bind(orderId, reason, Date.now())
    .run();
  return meta.changes === 1;
}

/** Closes an order that failed, once all is compensated; one that is closed or shipped stays as it is. */
export async function closeOrder(
  db: D1Database,
  orderId: string,
  state: "cancelled" | "declined",
  reason: string,
): Promise<void> {
  await db
    .prepare(
      `UPDATE orders SET state = ?2, reason = COALESCE(reason, ?3), updated_at = ?4
       WHERE order_id = ?1 AND state NOT IN ('shipped', 'complete', 'cancelled', 'declined')`,
    )
    .bind(orderId, state, reason, Date.now())
    .run();
}

/** Is there nothing more to do for this order, ever? */
export const isClosed = ({ state }: OrderRow) =>
  state === "complete" || state === "cancelled" || state === "declined";
