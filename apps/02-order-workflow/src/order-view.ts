import type { OrderRow } from "./orders.ts";
import { stepsOf } from "./steps.ts";

/** What `GET /orders/:id` tells anybody who knows the id. */
export const summaryOf = (row: OrderRow) => ({
  orderId: row.order_id,
  state: row.state,
  totalCents: row.total_cents,
  parcelId: row.parcel_id,
  createdAt: new Date(row.created_at).toISOString(),
  updatedAt: new Date(row.updated_at).toISOString(),
});

/** What it tells with the token: all of our own row, and the platform's view of the instance while it is kept. */
export async function viewOf(row: OrderRow, instance: WorkflowInstance | null) {
  return {
    ...summaryOf(row),
    review: row.review && JSON.parse(row.review),
    reason: row.reason,
    instance: instance && (await statusOf(instance)),
    steps: instance ? await stepsOf(instance) : [],
  };
}

async function statusOf(instance: WorkflowInstance) {
  const { status, output = null, error = null } = await instance.status();
  return { id: instance.id, status, output, error };
}
