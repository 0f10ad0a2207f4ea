import type { FulfilmentOrder } from "../schemas.ts";

/** An order with this id. */
export const order = (orderId: string): FulfilmentOrder => ({
  orderId,
  card: "tok_visa",
  cents: 450,
  lines: [{ sku: "tea", quantity: 1 }],
});
