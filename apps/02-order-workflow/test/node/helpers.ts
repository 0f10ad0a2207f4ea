import { join } from "node:path";
import { evidenceOf, type FaultScript, scriptFaults } from "@durable-lessons/outside-world";
import { LessonRuntime } from "@durable-lessons/lab/runner";
import { anotherCaller } from "@durable-lessons/test-kit/caller";
import { isOver as isOverAs, PATIENTLY } from "@durable-lessons/test-kit";
import { WAKE_EVENT } from "@durable-lessons/types";
import { afterAll, beforeAll, vi } from "vitest";
import type { OrderRequest } from "../../src/schemas.ts";

export const lesson = join(import.meta.dirname, "..", "..");
export const TOKEN = "token-of-ada-for-these-tests";

/** The lesson on a workerd of its own, with a short grace period and short retries. */
export const startLesson = (vars: Record<string, number | string> = {}) =>
  LessonRuntime.start(lesson, { GRACE_PERIOD: 50, RETRY_DELAY: 10, REVIEW_TOKEN: TOKEN, ...vars });

/** What the tests of a file do with the runtime that they share. */
type Running = Pick<LessonRuntime, "crash" | "env" | "fetch">;

/** The lesson for all tests of a file: it starts before the first one, and ends after the last. */
export function lessonOfFile() {
  let started: LessonRuntime;
  beforeAll(async () => {
    started = await startLesson();
  });
  afterAll(() => started.close());
  const runtime: Running = {
    crash: () => started.crash(),
    env: (worker) => started.env(worker),
    fetch: (path, init) => started.fetch(path, init),
  };
  return { runtime, shop: clientOf(runtime) };
}

/** What the routes answer; the tests look at its fields. */
export interface Answer {
  status: number;
  headers: Headers;
  body: {
    error?: string;
    status?: string;
    state?: string;
    reason?: string | null;
    instance?: { status: string; error: { message: string } | null } | null;
    steps?: {
      name: string;
      kind: string;
      state: string;
      attempts: { error?: { message: string }; retryDelayMs?: number }[];
    }[];
    [field: string]: unknown;
  };
}

/** A client of a lesson that runs. */
export function clientOf(runtime: Running, token: string | null = TOKEN) {
  async function send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await runtime.fetch(path, {
      method,
      headers: {
        ...anotherCaller(),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    return {
      status: response.status,
      headers: response.headers,
      body: JSON.parse(await response.text()),
    };
  }

  const order = async (orderId: string) => (await send("GET", `/orders/${orderId}`)).body;

  return {
    send,
    order,
    async place(faults: FaultScript = {}, request = newOrder()) {
      await script(request.orderId, faults);
      return {
        request,
        path: `/orders/${request.orderId}`,
        answer: await send("POST", "/orders", request),
      };
    },
    script,
    until: (orderId: string, condition: (order: Answer["body"]) => boolean) =>
      vi.waitUntil(async () => {
        const found = await order(orderId);
        return condition(found) && found;
      }, PATIENTLY),
    async evidence(orderId: string) {
      return evidenceOf((await bindings()).WORLD, idOf(orderId));
    },
    async wake(orderId: string) {
      const instance = await (await bindings()).ORDERS.get(idOf(orderId));
      await instance.sendEvent({ type: WAKE_EVENT, payload: null });
    },
    bindings,
  };

  async function bindings() {
    return (await runtime.env()) as unknown as {
      DB: D1Database;
      WORLD: D1Database;
      ORDERS: Workflow;
    };
  }

  async function script(orderId: string, faults: FaultScript) {
    await scriptFaults((await bindings()).WORLD, idOf(orderId), faults);
  }
}

/** An order that no other test has. */
export const newOrder = (fields: Partial<OrderRequest> = {}): OrderRequest => ({
  orderId: crypto.randomUUID().replaceAll("-", ""),
  email: `${crypto.randomUUID()}@example.com`,
  card: "tok_visa",
  lines: [{ sku: "tea", quantity: 2 }],
  ...fields,
});

export const idOf = (orderId: string) => `order-${orderId}`;

export const isOver = ({ instance }: Answer["body"]) => isOverAs(instance?.status);

export const inReview = ({ state }: Answer["body"]) => state === "in review";

export const approval = { approved: true, reviewer: "bob" };

export const delivered = {
  "card.charged": 1,
  "email.sent": 1,
  "parcel.shipped": 1,
  "stock.reserved": 1,
};

/** What is left of an order that was charged, and given back before its parcel left. */
export const givenBack = {
  "card.charged": 1,
  "card.refunded": 1,
  "stock.released": 1,
  "stock.reserved": 1,
};
