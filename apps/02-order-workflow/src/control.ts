import { findInstance } from "@durable-lessons/worker-helpers/instances";
import { EVENTS } from "./events.ts";
import {
  claimReview,
  findOrder,
  isClosed,
  leaveOrder,
  type Order,
  type OrderRow,
  markCancelling,
  takeOrder,
} from "./orders.ts";
import type { OrderReview } from "./schemas.ts";

/** A command for an order: does it, or says why not. */
type Command = (order: Order, env: Env, ctx: Context) => Promise<string | null>;

/** What may go on after the response. */
type Context = Pick<ExecutionContext, "waitUntil">;

const ALIVE = ["queued", "running", "waiting"];
const PAUSED = ["paused", "waitingForPause"];
/** While `terminate({ rollback: true })` compensates, the local engine says `running` (measured locally). */
const BUSY = new Set([...ALIVE, "rollingBack"]);

/** How long whoever terminates an order waits for the rollback handlers. */
const PATIENCE_MS = 1000;

const CANCELLING = "The order is being cancelled: wait until that has ended.";
const NO_INSTANCE = "There is no instance any more: the platform keeps one for days only.";

/**
 * Runs one command for an order at a time: of two at once the first one gets the row, and the second one is refused. Each
 * checks the row and the instance first.
 */
export async function oneAtATime(
  command: Command,
  { order_id: orderId, instance_id: instanceId }: OrderRow,
  env: Env,
  ctx: Context,
): Promise<string | null> {
  const row = await takeOrder(env.DB, orderId);
  if (!row) return "Another command for this order is running: try again.";
  try {
    const instance = await findInstance(env.ORDERS, instanceId);
    return await command({ row, instance }, env, ctx);
  } finally {
    await leaveOrder(env.DB, row);
  }
}

export const pause: Command = async ({ row, instance }) => {
  if (row.state === "cancelling") return CANCELLING;
  const refusal = await unless(instance, ALIVE, "pause it");
  if (!refusal) await instance?.pause();
  return refusal;
};

export const resume: Command = async ({ instance }) => {
  const refusal = await unless(instance, PAUSED, "resume it");
  if (!refusal) await instance?.resume();
  return refusal;
};

/** Passes a person's review on to an instance that waits for it. */
export const review =
  (given: OrderReview): Command =>
  async ({ row, instance }, env) => {
    if (!instance) return NO_INSTANCE;
    const refusal = await unless(instance, [...ALIVE, ...PAUSED], "review it");
    if (refusal) return refusal;
    if (!(await claimReview(env.DB, row.order_id, given)))
      return "This order does not wait for a review, or has one already.";
    // Should this fail, the review is not lost: the Workflow finds it in the row when its wait ends.
    await instance.sendEvent({ type: EVENTS.orderReview, payload: given });
    return null;
  };

/** Cancels an order. Its rollback may take minutes, so the response goes out when it has begun. */
export const terminate: Command = async ({ row, instance }, env, ctx) => {
  if (!instance) return NO_INSTANCE;
  const refusal = await unless(instance, [...ALIVE, ...PAUSED], "terminate it");
  if (refusal) return refusal;
  // From here on no step goes on with it, whatever happens to this request.
  if (!(await markCancelling(env.DB, row.order_id, "Terminated.")))
    return "The parcel has left: the order can no longer be cancelled.";
  const rolledBack = instance.terminate({ rollback: true });
  ctx.waitUntil(rolledBack.then(() => finishCancelling(row, env, ctx)).catch(console.error));
  // A refusal comes at once, and so does the end of a rollback that meets no fault. For any other there is GET.
  await Promise.race([rolledBack, scheduler.wait(PATIENCE_MS)]);
  return null;
};

/**
 * Restarts the instance, from a step where one is named.
 *
 * @param from the step's name
 */
export const restart =
  (from: string | undefined): Command =>
  async ({ row, instance }) => {
    if (!instance) return NO_INSTANCE;
    // What was compensated stays so: the steps before `from` would not run again.
    if (isClosed(row)) return `The order is ${row.state}: place a new one.`;
    if (from && row.state === "cancelling")
      return "The order is being cancelled: restart it without a step to finish that.";
    if (row.state === "cancelling" && BUSY.has((await instance.status()).status)) return CANCELLING;
    try {
      await instance.restart(from ? { from: { name: from } } : {});
      return null;
    } catch (error) {
      if (!(error instanceof Error && /instance\.cannot_restart/.test(error.message))) throw error;
      return `The instance has not reached a step "${from}".`;
    }
  };

/**
 * A run that was restarted a moment ago has forgotten its steps, so its rollback has nothing to compensate. It reaches them
 * again, goes no further since the order is being cancelled, and compensates them.
 */
async function finishCancelling(
  { order_id: orderId }: OrderRow,
  env: Env,
  ctx: Context,
): Promise<void> {
  const row = await findOrder(env.DB, orderId);
  if (row?.state === "cancelling") await oneAtATime(restart(undefined), row, env, ctx);
}

/** Says what to do if the instance's state does not allow the command. The platform would ignore it silently. */
async function unless(
  instance: WorkflowInstance | null,
  allowed: string[],
  what: string,
): Promise<string | null> {
  if (!instance) return NO_INSTANCE;
  const { status } = await instance.status();
  if (allowed.includes(status)) return null;
  const wayOn =
    status === "terminated" || status === "errored" ? " A restart takes it up again." : "";
  return `The instance is ${status}: too late to ${what}.${wayOn}`;
}
