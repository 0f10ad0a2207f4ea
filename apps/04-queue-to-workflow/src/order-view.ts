import { eventsSoFar, findInstance, stepNameOf } from "@durable-lessons/worker-helpers/instances";
import { fulfilmentId } from "./consume-orders.ts";
import { CLOSED, findOrder, type OrderRow, type OrderState } from "./orders.ts";

/** How an order stands, as its row and its instance tell together. */
export interface Look {
  state: OrderState | "in progress" | "failed";
  /** Of an open order, as long as the platform keeps it. */
  instance: WorkflowInstance | null;
  status: InstanceStatus | undefined;
}

/** Looks at an order's instance where its row does not know the end yet. */
export async function lookAt(env: Env, row: OrderRow): Promise<Look> {
  const instance = CLOSED.includes(row.state)
    ? null
    : await findInstance(env.FULFILMENT, await fulfilmentId(row.order_id));
  const status = await instance?.status();
  return { state: stateOf(row, status), instance, status };
}

export interface OrderView {
  orderId: string;
  state: Look["state"];
  /** The names of those that are done. */
  steps: string[];
  chargeId: string | null;
  parcelId: string | null;
  reason: string | null;
  /** What has to be done where it does not go on by itself. */
  next: string | null;
  createdAt: string;
  updatedAt: string;
}

/** What `GET /orders/:id` tells anybody who knows the id. */
export const summaryOf = ({ orderId, state, parcelId, next, createdAt, updatedAt }: OrderView) => ({
  orderId,
  state,
  parcelId,
  next,
  createdAt,
  updatedAt,
});

/** What it tells with the token: the row, and while the order is under way what its instance does. */
export async function viewOf(env: Env, row: OrderRow): Promise<OrderView> {
  const { state, instance, status } = await lookAt(env, row);
  if (status?.status === "complete") {
    // It has ended since the row was read.
    const closed = await findOrder(env.DB, row.order_id);
    if (closed && CLOSED.includes(closed.state)) return viewOf(env, closed);
  }
  return {
    orderId: row.order_id,
    state,
    // Not written into the row step by step: the platform keeps them anyhow, and a row written costs money.
    steps: instance ? await finishedSteps(instance) : [],
    chargeId: row.charge_id,
    parcelId: row.parcel_id,
    reason: row.reason ?? (state === "failed" ? whyFailed(status) : null),
    next: nextOf(row, state),
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  };
}

/** Of an open order its instance knows more than its row, once there is one. */
function stateOf(row: OrderRow, status: InstanceStatus | undefined): Look["state"] {
  if (CLOSED.includes(row.state)) return row.state;
  // An instance that is gone has ended without a result: with one, the row would be closed.
  if (!status) return row.started_at === null ? row.state : "failed";
  if (status.status === "queued") return "queued";
  if (status.status === "complete") return (status.output as { state: OrderState }).state;
  return status.status === "errored" || status.status === "terminated" ? "failed" : "in progress";
}

function whyFailed(status: InstanceStatus | undefined): string {
  if (!status) return "It failed or was stopped, so long ago that its instance is forgotten.";
  return status.error?.message ?? "Its instance was stopped.";
}

function nextOf({ order_id }: OrderRow, state: Look["state"]): string | null {
  if (state === "accepted") {
    return "Nobody knows whether the queue has it. POST the same order again: it is fulfilled once.";
  }
  if (state === "dead-lettered") return "POST the same order again.";
  if (state !== "failed") return null;
  const path = `/orders/${encodeURIComponent(order_id)}`;
  return `An operator can restart it, or cancel it once it is settled: POST ${path}/restart or ${path}/cancel`;
}

/** The names of the steps that are done. */
async function finishedSteps(instance: WorkflowInstance): Promise<string[]> {
  const events = await eventsSoFar(instance);
  return events.filter((event) => event.type === "step_completed").map(stepNameOf);
}
