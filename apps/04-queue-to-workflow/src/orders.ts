/** How an order stands, as far as its row knows. What its instance is doing is the platform's to tell. */
export type OrderState =
  | "accepted"
  | "queued"
  | "dead-lettered"
  | "shipped"
  | "declined"
  | "cancelled";

/** A row of the table `orders`. */
export interface OrderRow {
  order_id: string;
  fingerprint: string;
  state: OrderState;
  charge_id: string | null;
  parcel_id: string | null;
  reason: string | null;
  created_at: number;
  updated_at: number;
}

/** What an order has come to. */
export type Result =
  | { state: "shipped"; chargeId: string; parcelId: string }
  | { state: "cancelled" | "declined"; reason: string };

/** Nothing more is done for an order in one of these states, ever. */
export const CLOSED: readonly OrderState[] = ["shipped", "declined", "cancelled"];

// One bound JSON list, whatever the number of orders: D1 takes 100 parameters in a statement.
const NAMED = "order_id IN (SELECT value FROM json_each(?1))";

/** Writes orders down before anything is done for them, and tells the rows there are now and which of them are new. */
export async function acceptOrders(
  db: D1Database,
  orders: readonly { orderId: string; fingerprint: string }[],
): Promise<{ rows: Map<string, OrderRow>; added: Set<string> }> {
  const ids = JSON.stringify(orders.map(({ orderId }) => orderId));
  const [inserted, selected] = await db.batch<OrderRow>([
    db
      .prepare(
        `INSERT INTO orders (order_id, fingerprint, state, created_at, updated_at)
         SELECT value ->> '$.orderId', value ->> '$.fingerprint', 'accepted', ?2, ?2 FROM json_each(?1)
         WHERE true ON CONFLICT DO NOTHING RETURNING order_id`,
      )
      .bind(JSON.stringify(orders), Date.now()),
    db.prepare(`SELECT * FROM orders WHERE ${NAMED}`).bind(ids),
  ]);
  return {
    rows: new Map(selected?.results.map((row) => [row.order_id, row])),
    added: new Set(inserted?.results.map((row) => row.order_id)),
  };
}

/** Takes back what {@link acceptOrders} added, unless somebody else has put the order into the queue meanwhile. */
export async function takeBack(db: D1Database, orderIds: Iterable<string>): Promise<void> {
  await db
    .prepare(`DELETE FROM orders WHERE ${NAMED} AND state = 'accepted'`)
    .bind(JSON.stringify([...orderIds]))
    .run();
}

/** Notes that the queue has the messages of these orders, even where their rows were taken back a moment ago. */
export async function markQueued(
  db: D1Database,
  orders: readonly { orderId: string; fingerprint: string }[],
): Promise<void> {
  await db
    .prepare(
      `INSERT INTO orders (order_id, fingerprint, state, created_at, updated_at)
       SELECT value ->> '$.orderId', value ->> '$.fingerprint', 'queued', ?2, ?2 FROM json_each(?1)
       WHERE true
       ON CONFLICT (order_id) DO UPDATE SET state = 'queued', reason = NULL, updated_at = ?2
       WHERE state IN ('accepted', 'dead-lettered')`,
    )
    .bind(JSON.stringify(orders), Date.now())
    .run();
}

/** Which of these orders are closed: no message may start anything for them any more. */
export async function closedOrders(
  db: D1Database,
  orderIds: readonly string[],
): Promise<Set<string>> {
  const { results } = await db
    .prepare(
      `SELECT order_id FROM orders WHERE ${NAMED} AND state IN (SELECT value FROM json_each(?2))`,
    )
    .bind(JSON.stringify(orderIds), JSON.stringify(CLOSED))
    .all<{ order_id: string }>();
  return new Set(results.map((row) => row.order_id));
}

/** Notes that the messages of these orders have died, unless the orders got through another way. */
export async function markDeadLettered(
  db: D1Database,
  orderIds: readonly string[],
  reason: string,
): Promise<void> {
  await db
    .prepare(
      `UPDATE orders SET state = 'dead-lettered', reason = ?2, updated_at = ?3
       WHERE ${NAMED} AND state IN ('accepted', 'queued')`,
    )
    .bind(JSON.stringify(orderIds), reason, Date.now())
    .run();
}

/** Closes an order with its result. The same again changes nothing: what is closed stays as it is. */
export async function closeOrder(db: D1Database, orderId: string, result: Result): Promise<void> {
  const { state, chargeId, parcelId, reason } = {
    chargeId: null,
    parcelId: null,
    reason: null,
    ...result,
  };
  await db
    .prepare(
      `UPDATE orders SET state = ?2, charge_id = ?3, parcel_id = ?4, reason = ?5, updated_at = ?6
       WHERE order_id = ?1 AND state NOT IN (SELECT value FROM json_each(?7))`,
    )
    .bind(orderId, state, chargeId, parcelId, reason, Date.now(), JSON.stringify(CLOSED))
    .run();
}

/** Finds an order, or null. */
export const findOrder = (db: D1Database, orderId: string): Promise<OrderRow | null> =>
  db.prepare("SELECT * FROM orders WHERE order_id = ?1").bind(orderId).first<OrderRow>();
