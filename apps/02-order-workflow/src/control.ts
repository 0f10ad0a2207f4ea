import { isClosed, type Order } from "./orders.ts";

/** What the platform can be asked to do to an instance. */
export type Action = "pause" | "resume" | "terminate";

const ALIVE = ["queued", "running", "waiting"];
const ALLOWED: Record<Action, string[]> = {
  pause: ALIVE,
  resume: ["paused", "waitingForPause"],
  terminate: [...ALIVE, "paused", "waitingForPause"],
};

const NO_INSTANCE = "There is no instance any more: the platform keeps one for days only.";

/** Does it, or says why not. */
export async function control({ instance, row }: Order, action: Action): Promise<string | null> {
  if (!instance) return NO_INSTANCE;
  const { status } = await instance.status();
  // The platform would ignore some of these in silence.
  if (!ALLOWED[action].includes(status))
    return `The instance is ${status}: too late to ${action} it.`;
  if (action === "terminate") {
    if (["shipped", "complete"].includes(row.state))
      return "The parcel has left: there is nothing to take back.";
    await instance.terminate({ rollback: true });
  } else {
    await instance[action]();
  }
  return null;
}

/** Restarts the instance, from a step where one is named; or says why not. */
export async function restart(
  { instance, row }: Order,
  from: string | undefined,
): Promise<string | null> {
  if (!instance) return NO_INSTANCE;
  // What an order was given back for stays given back: the steps before `from` would not run again.
  if (isClosed(row)) return `The order is ${row.state}: place a new one.`;
  if (from && row.state === "cancelling")
    return "The order is being cancelled: restart it without a step, to finish that.";
  try {
    await instance.restart(from ? { from: { name: from } } : {});
    return null;
  } catch (error) {
    if (!(error instanceof Error && /instance\.cannot_restart/.test(error.message))) throw error;
    return `The instance has not come to a step "${from}".`;
  }
}
