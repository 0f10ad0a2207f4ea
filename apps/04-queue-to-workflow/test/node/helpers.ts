import { join } from "node:path";
import type { LessonRuntime } from "@durable-lessons/lab/runner";
import { WAKE_EVENT } from "@durable-lessons/types";
import type { FulfilmentOrder } from "../../src/schemas.ts";

export const lesson = join(import.meta.dirname, "..", "..");

export const TOKEN = "token-of-ada-for-these-tests";

/** The order number `nth` of a run. */
export const orderOf = (run: string, nth: number): FulfilmentOrder => ({
  orderId: `${run}/${nth}`,
  card: "tok_visa",
  cents: 100 + nth,
  lines: [{ sku: "tea", quantity: 1 }],
});

/** Lists of at most a hundred. */
export const hundreds = <T>(list: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(list.length / 100) }, (_, nth) =>
    list.slice(nth * 100, nth * 100 + 100),
  );

/** The lesson's Worker behind a runtime: its bindings are those of the process that is alive. */
export const bindings = async (runtime: LessonRuntime) =>
  (await runtime.env("queue-to-workflow")) as unknown as {
    DB: D1Database;
    WORLD: D1Database;
    ORDERS: Queue<FulfilmentOrder>;
    FULFILMENT: Workflow<FulfilmentOrder>;
  };

/** Sends up to a hundred orders as a client does, and takes no answer but 202. */
export async function post(
  runtime: LessonRuntime,
  orders: readonly FulfilmentOrder[],
  signal?: AbortSignal,
): Promise<void> {
  const response = await runtime.fetch("/orders/batch", {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({ orders }),
    ...(signal ? { signal } : {}),
  });
  const answer = await response.text();
  if (response.status !== 202) throw new Error(`POST /orders/batch: ${response.status} ${answer}`);
}

/** Wakes instances that the local engine has forgotten in a crash, as production does by itself. */
export async function wake(runtime: LessonRuntime, ids: readonly string[]): Promise<void> {
  const { FULFILMENT } = await bindings(runtime);
  for (const hundred of hundreds(ids)) {
    await Promise.all(
      hundred.map(async (id) => {
        const instance = await FULFILMENT.get(id);
        await instance.sendEvent({ type: WAKE_EVENT, payload: null });
      }),
    );
  }
}

/** The ids of the orders that are shipped. */
export async function shippedIds(runtime: LessonRuntime): Promise<Set<string>> {
  const { DB } = await bindings(runtime);
  const { results } = await DB.prepare("SELECT order_id FROM orders WHERE state = 'shipped'").all<{
    order_id: string;
  }>();
  return new Set(results.map((row) => row.order_id));
}
