/** The two ways out of `failed`. Each answers null, or why not; one statement decides where both come at once. */
import { eventsSoFar } from "@durable-lessons/worker-helpers/instances";
import { lookAt } from "./order-view.ts";
import { cancelFailed, claimRestart, markStarted, type OrderRow } from "./orders.ts";

const NOT_FAILED = "This order has not failed.";
const TAKEN = "Somebody else restarts or cancels this order. Look again.";

/** Runs an order again that was stopped: under the same id and the same keys, so that nothing is called twice. */
export async function restartFailed(env: Env, row: OrderRow): Promise<string | null> {
  const { state, instance } = await lookAt(env, row);
  if (state !== "failed") return NOT_FAILED;
  if (!instance) {
    return "Its instance, and with it its progress, is forgotten. Settle it by hand, then cancel it.";
  }
  const events = await eventsSoFar(instance);
  if (events.some(({ type }) => type.startsWith("rollback"))) {
    return "Its rollback has begun, and a restart would still ship the parcel. Settle it by hand, then cancel it.";
  }
  if (!(await claimRestart(env.DB, row))) return TAKEN;
  await instance.restart();
  await markStarted(env.DB, [row.order_id]);
  return null;
}

/** Closes an order: whoever says so has given back by hand what its instance could not. */
export async function cancel(env: Env, row: OrderRow, reason: string): Promise<string | null> {
  const { state } = await lookAt(env, row);
  if (state !== "failed") return NOT_FAILED;
  return (await cancelFailed(env.DB, row, reason)) ? null : TAKEN;
}
