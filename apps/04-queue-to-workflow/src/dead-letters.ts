import * as v from "valibot";
import { markDeadLettered } from "./orders.ts";
import { fulfilmentOrder } from "./schemas.ts";

/** Stores messages for a person to look at. Safe to repeat: until it has returned, none of them must be acked. */
export async function keepDeadLetters(
  db: D1Database,
  letters: readonly { message: Message; reason: string }[],
): Promise<void> {
  const rows = letters.map(({ message: { id, body }, reason }) => ({
    id,
    body: JSON.stringify(body) ?? "null",
    reason,
  }));
  await db
    .prepare(
      `INSERT INTO dead_letters (message_id, body, reason, stored_at)
       SELECT value ->> '$.id', value ->> '$.body', value ->> '$.reason', ?2 FROM json_each(?1)
       WHERE true ON CONFLICT DO NOTHING`,
    )
    .bind(JSON.stringify(rows), Date.now())
    .run();
}

/** Keeps every dead letter, and lets its order say so. Sent once more by its client, the order gets another chance. */
export async function consumeDeadLetters(batch: MessageBatch, env: Env): Promise<void> {
  const reason = "The retries of its message are used up. Send the order again.";
  await keepDeadLetters(
    env.DB,
    batch.messages.map((message) => ({ message, reason })),
  );
  const orderIds = batch.messages.flatMap(({ body }) => {
    const order = v.safeParse(fulfilmentOrder, body);
    return order.success ? [order.output.orderId] : [];
  });
  await markDeadLettered(env.DB, orderIds, reason);
}
