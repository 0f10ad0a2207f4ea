import * as v from "valibot";
import { fulfilmentOrder, type FulfilmentOrder } from "../schemas.ts";

/** An order, and the message that brought it. */
export interface OrderMessage {
  message: Message;
  order: FulfilmentOrder;
}

/** The messages of a batch that hold an order. The others are retried: they end as dead letters, where somebody looks. */
export function ordersIn(batch: MessageBatch): OrderMessage[] {
  return batch.messages.flatMap((message) => {
    const order = v.safeParse(fulfilmentOrder, message.body);
    if (order.success) return [{ message, order: order.output }];
    message.retry();
    return [];
  });
}

// Measured locally.
const ALREADY_EXISTS = 10405;

/** Retries the orders that `createBatch` has refused. One whose instance exists has what it wants. */
export function retryRefused(
  orders: readonly OrderMessage[],
  errors: WorkflowBatchCreateResult["errors"],
): void {
  for (const { index, code } of errors) {
    if (code !== ALREADY_EXISTS) orders[index]?.message.retry();
  }
}
