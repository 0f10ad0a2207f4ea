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
  /** When an instance of it was seen, in milliseconds since the epoch. Then no message starts another one, ever. */
  started_at: number | null;
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

const OPEN = `state NOT IN (${CLOSED.map((state) => `'${state}'`).join(", ")})`;

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

/** Notes that the queue has the messages of these orders. */
export async function markQueued(db: D1Database, orderIds: readonly string[]): Promise<void> {
  await db
    .prepare(
      `UPDATE orders SET state = 'queued', reason = NULL, updated_at = ?2
       WHERE ${NAMED} AND state IN ('accepted', 'dead-lettered')`,
    )
    .bind(JSON.stringify(orderIds), Date.now())
    .run();
}

/** Notes that these orders have an instance. It will be forgotten one day, and its id free again; the row stays. */
export async function markStarted(db: D1Database, orderIds: readonly string[]): Promise<void> {
  await db
    .prepare(
      `UPDATE orders SET state = 'queued', reason = NULL, started_at = ?2, updated_at = ?2
       WHERE ${NAMED} AND started_at IS NULL AND ${OPEN}`,
    )
    .bind(JSON.stringify(orderIds), Date.now())
    .run();
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
       WHERE ${NAMED} AND state IN ('accepted', 'queued') AND started_at IS NULL`,
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
       WHERE order_id = ?1 AND ${OPEN}`,
    )
    .bind(orderId, state, chargeId, parcelId, reason, Date.now())
    .run();
}

/** Finds an order, or null. */
export const findOrder = (db: D1Database, orderId: string): Promise<OrderRow | null> =>
  db.prepare("SELECT * FROM orders WHERE order_id = ?1").bind(orderId).first<OrderRow>();

/** Finds the rows of these orders, by id. */
export async function findOrders(
  db: D1Database,
  orderIds: readonly string[],
): Promise<Map<string, OrderRow>> {
  const { results } = await db
    .prepare(`SELECT * FROM orders WHERE ${NAMED}`)
    .bind(JSON.stringify(orderIds))
    .all<OrderRow>();
  return new Map(results.map((row) => [row.order_id, row]));
}

/**
 * Takes an order that has failed for its restart: until {@link markStarted} nobody can cancel it.
 *
 * @returns false where somebody else has restarted or cancelled it since the row was read
 */
export async function claimRestart(db: D1Database, row: OrderRow): Promise<boolean> {
  const { meta } = await db
    .prepare(
      `UPDATE orders SET started_at = NULL, reason = NULL, updated_at = ?3
       WHERE order_id = ?1 AND started_at IS ?2 AND ${OPEN}`,
    )
    .bind(row.order_id, row.started_at, Date.now())
    .run();
  return meta.changes === 1;
}

/**
 * Closes an order that has failed, with the word of whoever has settled it.
 *
 * @returns false where somebody else has restarted or cancelled it since the row was read
 */
export async function cancelFailed(
  db: D1Database,
  row: OrderRow,
  reason: string,
): Promise<boolean> {
  const { meta } = await db
    .prepare(
      `UPDATE orders SET state = 'cancelled', reason = ?3, updated_at = ?4
       WHERE order_id = ?1 AND started_at = ?2 AND ${OPEN}`,
    )
    .bind(row.order_id, row.started_at, reason, Date.now())
    .run();
  return meta.changes === 1;
}
