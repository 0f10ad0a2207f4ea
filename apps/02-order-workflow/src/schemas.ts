import { body, emailAddress, identifier, slug } from "@durable-lessons/types/fields";
import * as v from "valibot";

/** Most lines of one order. */
export const MAX_ORDER_LINES = 100;

/** Most pieces of one product in one order. */
export const MAX_QUANTITY = 1000;

const orderLine = body({
  sku: identifier("sku"),
  quantity: v.pipe(
    v.number("quantity must be a number"),
    v.integer("quantity must be a whole number"),
    v.minValue(1, "quantity must be at least 1"),
    v.maxValue(MAX_QUANTITY, `quantity must be at most ${MAX_QUANTITY}`),
  ),
});

/** Body of `POST /orders`. */
export const orderRequest = body({
  orderId: slug("orderId"),
  email: emailAddress("email"),
  card: v.pipe(
    v.string("card must be text"),
    v.regex(
      /^[A-Za-z0-9_-]{1,64}$/,
      "card must be a token of the payment provider: 1 to 64 letters, digits, - or _",
    ),
  ),
  lines: v.pipe(
    v.array(orderLine, "lines must be a list"),
    v.minLength(1, "lines must not be empty"),
    v.maxLength(MAX_ORDER_LINES, `lines must be at most ${MAX_ORDER_LINES}`),
    v.check(
      (lines) => new Set(lines.map(({ sku }) => sku)).size === lines.length,
      "lines must name each sku once: add up the quantities",
    ),
  ),
});

/** An order, validated: see {@link orderRequest}. */
export type OrderRequest = v.InferOutput<typeof orderRequest>;

/** Params of the order Workflow: an order, and the price that it was placed for. */
export type PlacedOrder = OrderRequest & { totalCents: number };

/** Body of `POST /orders/:id/review`, payload of the event that the order Workflow waits for. */
export const orderReview = body({
  approved: v.boolean("approved must be true or false"),
  reviewer: identifier("reviewer"),
});

/** A person's word on an order, validated: see {@link orderReview}. */
export type OrderReview = v.InferOutput<typeof orderReview>;

/** Body of `POST /orders/:id/restart`. Without `from` the order starts over. */
export const orderRestart = body({ from: v.optional(identifier("from")) });
