import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { evidenceOf, type FaultScript, scriptFaults } from "@durable-lessons/outside-world";
import { anotherCaller } from "@durable-lessons/test-kit/caller";
import { PATIENTLY } from "@durable-lessons/test-kit";
import { env, exports } from "cloudflare:workers";
import { vi } from "vitest";
import { fulfilmentId } from "../../src/consume-orders.ts";
import worker from "../../src/index.ts";
import { QUEUES } from "../../src/queues.ts";
import type { FulfilmentOrder } from "../../src/schemas.ts";

/** An order that no other test has. */
export const newOrder = (fields: Partial<FulfilmentOrder> = {}): FulfilmentOrder => ({
  orderId: `o_${crypto.randomUUID().replaceAll("-", "")}`,
  card: "tok_visa",
  cents: 450,
  lines: [{ sku: "tea", quantity: 1 }],
  ...fields,
});

export const newOrders = (count: number) => Array.from({ length: count }, () => newOrder());

/** What the routes answer; the tests look at its fields. */
export interface Answer {
  status: number;
  headers: Headers;
  body: {
    error?: string;
    status?: string;
    state?: string;
    reason?: string | null;
    steps?: string[];
    accepted?: number;
    known?: number;
    rejected?: { index: number; error: string }[];
    instanceId?: string;
    [field: string]: unknown;
  };
}

/** Sends a request to the Worker, JSON unless the body is text already; with the token unless another one is given, or null. */
export async function send(
  method: string,
  path: string,
  body?: unknown,
  workerEnv: Env = env,
  token: string | null = env.OPERATOR_TOKEN,
): Promise<Answer> {
  const request = new Request(`https://lesson.example${path}`, {
    method,
    headers: {
      ...anotherCaller(),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const response =
    workerEnv === env
      ? await exports.default.fetch(request)
      : await worker.fetch(request, workerEnv, createExecutionContext());
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** Sends a POST as an operator. */
export const operate = (path: string, body?: unknown) => send("POST", path, body);

/** Hands a batch to the Worker's queue handler and tells what became of each message. */
export async function deliver(
  bodies: unknown[],
  { queue = QUEUES.orders, workerEnv = env }: { queue?: string; workerEnv?: Env } = {},
) {
  const messages = bodies.map((body) => ({
    id: crypto.randomUUID(),
    timestamp: new Date(),
    attempts: 1,
    body,
  }));
  const batch = createMessageBatch(queue, messages);
  const ctx = createExecutionContext();
  await worker.queue(batch, workerEnv);
  const result = await getQueueResult(batch, ctx);
  return {
    ids: messages.map(({ id }) => id),
    acked: result.explicitAcks,
    retried: result.retryMessages.map(({ msgId }) => msgId),
  };
}

/** The instance of an order, or null. */
export async function instanceOf({ orderId }: FulfilmentOrder): Promise<WorkflowInstance | null> {
  return env.FULFILMENT.get(await fulfilmentId(orderId)).catch(() => null);
}

export const viewOf = async ({ orderId }: FulfilmentOrder) =>
  (await send("GET", `/orders/${encodeURIComponent(orderId)}`)).body;

/** Waits until an order is in a state. */
export async function untilState(order: FulfilmentOrder, state: string): Promise<Answer["body"]> {
  return vi.waitUntil(async () => {
    const view = await viewOf(order);
    return view.state === state && view;
  }, PATIENTLY);
}

/** The effects of an order, by kind. */
export const evidence = async ({ orderId }: FulfilmentOrder) =>
  evidenceOf(env.WORLD, await fulfilmentId(orderId));

/** Scripts the providers of an order. */
export const script = async ({ orderId }: FulfilmentOrder, faults: FaultScript) =>
  scriptFaults(env.WORLD, await fulfilmentId(orderId), faults);

export const shipped = { "stock.reserved": 1, "card.charged": 1, "parcel.shipped": 1 };

/** The real Workflow, which refuses its first calls, as it does above a hundred creates a second; and counts all. */
export function refusing(times: number) {
  const calls = { refused: 0, passed: 0 };
  const workflow = new Proxy(env.FULFILMENT, {
    get(target, name) {
      if (name !== "createBatch") return Reflect.get(target, name);
      return (options: WorkflowBatchCreateOptions<FulfilmentOrder>) => {
        if (calls.refused < times) {
          calls.refused += 1;
          throw new Error("[simulated] (rate_limited) Too many creates");
        }
        calls.passed += 1;
        return target.createBatch(options);
      };
    },
  });
  return { calls, workerEnv: { ...env, FULFILMENT: workflow } };
}

/** The real queue, which refuses its first calls, as it does above 5,000 messages a second. */
export function overloaded(times: number): Env {
  let refused = 0;
  const queue = new Proxy(env.ORDERS, {
    get(target, name) {
      if (name !== "sendBatch") return Reflect.get(target, name);
      return (messages: MessageSendRequest[]) => {
        if (refused++ < times) throw new Error("[simulated] Too Many Requests");
        return target.sendBatch(messages);
      };
    },
  });
  return { ...env, ORDERS: queue };
}
