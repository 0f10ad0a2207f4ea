import { backoffSeconds, createInstancesOnce, instanceIdFor } from "@durable-lessons/idempotency";
import { issuesAsText } from "@durable-lessons/worker-helpers/http";
import * as v from "valibot";
import { keepDeadLetters } from "./dead-letters.ts";
import { closedOrders } from "./orders.ts";
import { fulfilmentOrder, type FulfilmentOrder } from "./schemas.ts";

/** Doubles from two seconds to five minutes: a rate limit is over in a second, an outage takes longer. */
const BACKOFF = { baseSeconds: 2, maxSeconds: 300 };

/** The instance of an order: the same for every message, whoever sends it and however often. */
export const fulfilmentId = (orderId: string) => instanceIdFor("fulfil", orderId);

/** Starts one fulfilment per order: one statement and one call for a batch of up to a hundred messages. */
export async function consumeOrders(batch: MessageBatch, env: Env): Promise<void> {
  const readable: { message: Message; order: FulfilmentOrder }[] = [];
  const unreadable: { message: Message; reason: string }[] = [];
  for (const message of batch.messages) {
    const order = v.safeParse(fulfilmentOrder, message.body);
    if (order.success) readable.push({ message, order: order.output });
    else unreadable.push({ message, reason: issuesAsText(order.issues) });
  }

  // No retry makes a body readable. It is kept for a person, and its neighbours are served.
  await settle(unreadable, () => keepDeadLetters(env.DB, unreadable));
  await settle(readable, () =>
    startFulfilments(
      readable.map(({ order }) => order),
      env,
    ),
  );
}

/** Starts what is not started yet, and tells which orders could not be. */
async function startFulfilments(
  orders: FulfilmentOrder[],
  env: Env,
): Promise<Map<number, unknown>> {
  // An instance id is free again after the instance's retention. The row is not.
  const closed = await closedOrders(
    env.DB,
    orders.map(({ orderId }) => orderId),
  );
  const open = [...orders.entries()].filter(([, { orderId }]) => !closed.has(orderId));
  const instances = await Promise.all(
    open.map(async ([, order]) => ({ id: await fulfilmentId(order.orderId), params: order })),
  );
  const outcomes = await createInstancesOnce(env.FULFILMENT, instances);
  const failed = new Map<number, unknown>();
  for (const [nth, [index]] of open.entries()) {
    const outcome = outcomes[nth];
    // An instance that exists is the goal, whoever made it.
    if (outcome?.outcome === "failed") failed.set(index, outcome.error);
  }
  return failed;
}

/** Acks each message once the work is done, and only then. What failed is retried alone, later each time. */
async function settle(
  entries: readonly { message: Message }[],
  work: () => Promise<Map<number, unknown> | void>,
): Promise<void> {
  if (entries.length === 0) return;
  const failed = await work().catch(
    (error: unknown) => new Map(entries.map((_, index) => [index, error])),
  );
  for (const [index, { message }] of entries.entries()) {
    if (!failed?.has(index)) {
      message.ack();
      continue;
    }
    console.error("an order could not be started, will be retried", message.id, failed.get(index));
    message.retry({ delaySeconds: backoffSeconds(message.attempts, BACKOFF) });
  }
}
