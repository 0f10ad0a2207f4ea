import {
  backoffSeconds,
  createInstancesOnce,
  fingerprintOf,
  instanceIdFor,
} from "@durable-lessons/idempotency";
import { issuesAsText } from "@durable-lessons/worker-helpers/http";
import * as v from "valibot";
import { keepDeadLetters } from "./dead-letters.ts";
import { CLOSED, findOrders, markStarted } from "./orders.ts";
import { fulfilmentOrder, type FulfilmentOrder } from "./schemas.ts";

/** Doubles from two seconds to five minutes: a rate limit is over in a second, an outage takes longer. */
const BACKOFF = { baseSeconds: 2, maxSeconds: 300 };

/** The instance of an order: the same for every message, whoever sends it and however often. */
export const fulfilmentId = (orderId: string) => instanceIdFor("fulfil", orderId);

/** Starts one fulfilment per order: one statement and one call for a batch of up to a hundred messages. */
export async function consumeOrders(batch: MessageBatch, env: Env): Promise<void> {
  const readable: OrderMessage[] = [];
  const unreadable: { message: Message; reason: string }[] = [];
  for (const message of batch.messages) {
    const order = v.safeParse(fulfilmentOrder, message.body);
    if (order.success) readable.push({ message, order: order.output });
    else unreadable.push({ message, reason: issuesAsText(order.issues) });
  }

  // No retry makes a body readable. It is kept for a person, and its neighbours are served.
  await settle(unreadable, () => keepDeadLetters(env.DB, unreadable));
  await settle(readable, () => startFulfilments(readable, env));
}

interface OrderMessage {
  message: Message;
  order: FulfilmentOrder;
}

/** Starts what is not started yet, and tells which orders could not be. */
async function startFulfilments(messages: OrderMessage[], env: Env): Promise<Map<number, unknown>> {
  // An instance id is free again after the instance's retention. The row is not.
  const rows = await findOrders(
    env.DB,
    messages.map(({ order }) => order.orderId),
  );
  const open: { index: number; id: string; params: FulfilmentOrder }[] = [];
  const others: { message: Message; reason: string }[] = [];
  for (const [index, { message, order }] of messages.entries()) {
    const row = rows.get(order.orderId);
    if (row && row.fingerprint !== (await fingerprintOf(order))) {
      others.push({ message, reason: "There is another order with this id." });
    } else if (!row || (row.started_at === null && !CLOSED.includes(row.state))) {
      open.push({ index, id: await fulfilmentId(order.orderId), params: order });
    }
  }
  if (others.length > 0) await keepDeadLetters(env.DB, others);

  const outcomes = await createInstancesOnce(
    env.FULFILMENT,
    open.map(({ id, params }) => ({ id, params })),
  );
  const failed = new Map<number, unknown>();
  for (const [nth, { index }] of open.entries()) {
    const outcome = outcomes[nth];
    // An instance that exists is the goal, whoever made it.
    if (outcome?.outcome === "failed") failed.set(index, outcome.error);
  }
  const started = open.filter(({ index }) => !failed.has(index));
  await markStarted(
    env.DB,
    started.map(({ params }) => params.orderId),
  );
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
