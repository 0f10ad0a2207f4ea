import { eventsSoFar, findInstance, stepNameOf } from "@durable-lessons/worker-helpers/instances";
import { fulfilmentId } from "./consume-orders.ts";
import { CLOSED, type OrderRow } from "./orders.ts";

/** What `GET /orders/:id` tells: the row, and while the order is under way what its instance does. */
export async function viewOf(env: Env, row: OrderRow) {
  const closed = CLOSED.includes(row.state);
  const instance = closed
    ? null
    : await findInstance(env.FULFILMENT, await fulfilmentId(row.order_id));
  const status = await instance?.status();
  return {
    orderId: row.order_id,
    state: stateOf(row, status),
    // Not written into the row step by step: the platform keeps them anyhow, and a row written costs money.
    steps: instance ? await finishedSteps(instance) : [],
    chargeId: row.charge_id,
    parcelId: row.parcel_id,
    reason: row.reason ?? status?.error?.message ?? null,
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  };
}

/** Of an open order its instance knows more than its row, once there is one. */
function stateOf(row: OrderRow, status: InstanceStatus | undefined): string {
  if (!status) return row.state;
  if (status.status === "queued") return "queued";
  return status.status === "errored" || status.status === "terminated" ? "failed" : "in progress";
}

/** The names of the steps that are done. */
async function finishedSteps(instance: WorkflowInstance): Promise<string[]> {
  const events = await eventsSoFar(instance);
  return events.filter((event) => event.type === "step_completed").map(stepNameOf);
}
