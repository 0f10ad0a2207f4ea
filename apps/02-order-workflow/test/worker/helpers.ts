import { evidenceOf, type FaultScript, scriptFaults } from "@durable-lessons/outside-world";
import { WAKE_EVENT } from "@durable-lessons/types";
import { PATIENTLY } from "@durable-lessons/test-kit";
import { env, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import { vi } from "vitest";
import { EVENTS } from "../../src/events.ts";
import { OrderWorkflow } from "../../src/index.ts";
import { findOrder } from "../../src/orders.ts";
import { placeOrder } from "../../src/place-order.ts";
import type { OrderRequest } from "../../src/schemas.ts";

/** An order that no other test has. */
export const newOrder = (): OrderRequest => ({
  orderId: crypto.randomUUID().replaceAll("-", ""),
  email: "ada@example.com",
  card: "tok_visa",
  lines: [{ sku: "tea", quantity: 2 }],
});

/** Params of an instance that no row knows. */
export const newParams = () => ({ ...newOrder(), totalCents: 900 });

/** The instance that works on this order. */
export const idOf = ({ orderId }: OrderRequest) => `order-${orderId}`;

/** Places an order whose outside world has these faults. */
export async function start(faults: FaultScript = {}, order = newOrder()) {
  await scriptFaults(env.WORLD, idOf(order), faults);
  await placeOrder(env, order);
  return { order, instance: await env.ORDERS.get(idOf(order)) };
}

export const approve = (instance: WorkflowInstance) =>
  instance.sendEvent({
    type: EVENTS.orderReview,
    payload: { approved: true, reviewer: "bob" },
  });

export const rowOf = ({ orderId }: OrderRequest) => findOrder(env.DB, orderId);

export const untilState = (order: OrderRequest, state: string) =>
  vi.waitUntil(async () => (await rowOf(order))?.state === state, PATIENTLY);

/**
 * Resumes an instance and waits until it runs. Where it is resumed before its last run has noticed the pause, the local
 * engine leaves it queued until an event comes (measured locally).
 */
export async function resume(instance: WorkflowInstance): Promise<void> {
  await instance.resume();
  await vi.waitUntil(async () => {
    await instance.sendEvent({ type: WAKE_EVENT, payload: null });
    return (await instance.status()).status !== "queued";
  }, PATIENTLY);
}

/** The effects of an instance, by kind. */
export const evidence = (instanceId: string) => evidenceOf(env.WORLD, instanceId);

/** Runs any `run` on the real engine, in the place of the lesson's. */
export async function runAs(
  run: (event: WorkflowEvent<OrderRequest>, step: WorkflowStep) => Promise<unknown>,
  id: string = crypto.randomUUID(),
) {
  vi.spyOn(OrderWorkflow.prototype, "run").mockImplementation(
    run as unknown as OrderWorkflow["run"],
  );
  return env.ORDERS.create({ id, params: newParams() });
}

/** Waits until an instance waits for an event. */
export async function untilWaiting(instance: WorkflowInstance): Promise<void> {
  using subscription = await instance.subscribe({ filter: ["wait_started"] });
  await subscription.next();
}

/** Waits until the first attempt of a step is under way. */
export async function untilStarted(instance: WorkflowInstance, name: string): Promise<void> {
  using subscription = await instance.subscribe({ filter: ["attempt_started"] });
  for (;;) {
    const { value, done } = await subscription.next();
    if (done || ("stepName" in value && value.stepName === `${name}-1`)) return;
  }
}

/** The events of an instance that is over. */
export async function eventsOf(instance: WorkflowInstance) {
  const events = [];
  using subscription = await instance.subscribe();
  for (;;) {
    const { value, done } = await subscription.next();
    if (done) return events;
    events.push(value);
  }
}
