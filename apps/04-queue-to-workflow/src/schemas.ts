import { body, identifier } from "@durable-lessons/types/fields";
import * as v from "valibot";

/** Most orders in one request: as many messages as `sendBatch` takes (Queues documentation, "Limits"). */
export const MAX_ORDERS = 100;

/**
 * Largest body of a request with many orders, in bytes. What it holds fits into one `sendBatch`, which takes 256 KB with
 * about 100 bytes of its own for each message (Queues documentation, "Limits"): so a batch is sent whole or not at all.
 */
export const MAX_BATCH_BYTES = 200_000;

/** Most lines of one order. */
const MAX_LINES = 100;

const whole = (name: string, most: number) =>
  v.pipe(
    v.number(`${name} must be a number`),
    v.integer(`${name} must be a whole number`),
    v.minValue(1, `${name} must be at least 1`),
    v.maxValue(most, `${name} must be at most ${most}`),
  );

/** What an order consists of that somebody has priced already. */
export const orderFields = {
  /** The shop's own number, whatever it looks like. */
  orderId: identifier("orderId"),
  card: identifier("card"),
  cents: whole("cents", 100_000_000),
  lines: v.pipe(
    v.array(
      body({ sku: identifier("sku"), quantity: whole("quantity", 1000) }),
      "lines must be a list",
    ),
    v.minLength(1, "lines must not be empty"),
    v.maxLength(MAX_LINES, `lines must be at most ${MAX_LINES}`),
  ),
};

/** Body of `POST /orders`, message of the queue `orders`, params of the fulfilment Workflow. */
export const fulfilmentOrder = body(orderFields);

/** An order to fulfil, validated: see {@link fulfilmentOrder}. */
export type FulfilmentOrder = v.InferOutput<typeof fulfilmentOrder>;

/** Body of `POST /orders/batch`. Each order is validated by itself, so that one does not hold up the others. */
export const fulfilmentOrderBatch = body({
  orders: v.pipe(
    v.array(v.unknown(), "orders must be a list"),
    v.minLength(1, "orders must not be empty"),
    v.maxLength(
      MAX_ORDERS,
      `orders must be at most ${MAX_ORDERS}: send the rest in another request`,
    ),
  ),
});

/** Body of `POST /orders/:id/cancel`: what whoever has settled the order has to say. */
export const orderCancellation = body({ reason: identifier("reason") });

/** A product, as a URL names it. */
export const productSku = identifier("sku");
