import type { RunContext } from "@durable-lessons/lab";
import type { OrderRequest } from "../schemas.ts";

/** An order of its own for every run. */
export const orderOf = ({ run }: RunContext): OrderRequest => ({
  orderId: run,
  email: "ada@example.com",
  card: "tok_visa",
  lines: [{ sku: "tea", quantity: 2 }],
});
