import { createExecutionContext } from "cloudflare:test";
import { untilOver } from "@durable-lessons/test-kit";
import { env, exports } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import worker from "../../src/index.ts";
import { findOrder } from "../../src/orders.ts";
import { MAX_BATCH_BYTES, MAX_ORDERS } from "../../src/schemas.ts";
import { whatToTry } from "../../src/what-to-try.ts";
import {
  deliver,
  evidence,
  instanceOf,
  newOrder,
  newOrders,
  overloaded,
  send,
  shipped,
  untilState,
  viewOf,
} from "./helpers.ts";

describe("POST /orders", () => {
  test("answers 202 when the queue has the order, and says where to look", async () => {
    const order = newOrder();
    const { status, headers, body } = await send("POST", "/orders", order);
    expect(status).toBe(202);
    expect(body).toEqual({ status: "accepted", orderId: order.orderId });
    expect(headers.get("location")).toBe(`/orders/${order.orderId}`);
    const view = await untilState(order, "shipped");
    expect(view).toMatchObject({ parcelId: expect.any(String), chargeId: expect.any(String) });
    expect(await evidence(order)).toEqual(shipped);
  });

  test("the same order again is 200, before it is shipped and after, and starts nothing", async () => {
    const order = newOrder();
    await send("POST", "/orders", order);
    expect((await send("POST", "/orders", order)).status).toBe(200);
    await untilState(order, "shipped");
    const late = await send("POST", "/orders", order);
    expect(late.body).toEqual({ status: "known", orderId: order.orderId });
    expect(await evidence(order)).toEqual(shipped);
  });

  test("another order under the same id is 409, and the first one stands", async () => {
    const order = newOrder();
    await send("POST", "/orders", order);
    const other = await send("POST", "/orders", { ...order, cents: 1 });
    expect(other.status).toBe(409);
    await untilState(order, "shipped");
    expect(await evidence(order)).toEqual(shipped);
  });

  test("ten at the same moment, of two contents: one order, of one content", async () => {
    const order = newOrder();
    const other = { ...order, cents: 1 };
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, nth) => send("POST", "/orders", nth % 2 ? other : order)),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(5);
    await untilState(order, "shipped");
    expect(await evidence(order)).toEqual(shipped);
  });

  test.each([
    "a/b",
    "ada@example.com",
    "two words",
    "🫖",
    "x".repeat(180),
    "-dash",
    "batch",
    "ونداد",
  ])("an order may be called anything: %s", async (name) => {
    const order = newOrder({ orderId: name + crypto.randomUUID().slice(0, 8) });
    const { headers } = await send("POST", "/orders", order);
    await untilState(order, "shipped");
    const { body } = await send("GET", headers.get("location") ?? "");
    expect(body["orderId"]).toBe(order.orderId);
  });
});

describe("POST /orders/batch", () => {
  test("one invalid order in a hundred is named, and the other 99 are shipped", async () => {
    const orders: object[] = newOrders(MAX_ORDERS);
    orders[41] = { ...orders[41], cents: -1 };
    const { status, body } = await send("POST", "/orders/batch", { orders });
    expect(status).toBe(202);
    expect(body).toEqual({
      accepted: 99,
      known: 0,
      rejected: [{ index: 41, error: "cents must be at least 1" }],
    });
    const valid = orders.filter((_, index) => index !== 41) as ReturnType<typeof newOrders>;
    for (const order of valid) await untilState(order, "shipped");
    for (const order of valid) expect(await evidence(order)).toEqual(shipped);
  });

  test("the same batch again is known, and starts nothing", async () => {
    const orders = newOrders(3);
    await send("POST", "/orders/batch", { orders });
    const { status, body } = await send("POST", "/orders/batch", { orders });
    expect(status).toBe(202);
    expect(body).toEqual({ accepted: 0, known: 3, rejected: [] });
    for (const order of orders) await untilState(order, "shipped");
    for (const order of orders) expect(await evidence(order)).toEqual(shipped);
  });

  test("an order twice in one batch is one order; two orders under one id are not", async () => {
    const order = newOrder();
    const orders = [order, order, { ...order, cents: 1 }];
    const { body } = await send("POST", "/orders/batch", { orders });
    expect(body).toEqual({
      accepted: 1,
      known: 1,
      rejected: [{ index: 2, error: "There is another order with this id." }],
    });
    await untilState(order, "shipped");
    expect(await evidence(order)).toEqual(shipped);
  });

  test("a batch of which every order is another one under its id is 409", async () => {
    const orders = newOrders(2);
    await send("POST", "/orders/batch", { orders });
    const others = orders.map((order) => ({ ...order, cents: 1 }));
    const { status, body } = await send("POST", "/orders/batch", { orders: others });
    expect(status).toBe(409);
    expect(body.rejected?.map(({ index }) => index)).toEqual([0, 1]);
    const mixed = await send("POST", "/orders/batch", { orders: [others[0], orders[1]] });
    expect(mixed).toMatchObject({ status: 202, body: { known: 1, rejected: [{ index: 0 }] } });
    for (const order of orders) await untilState(order, "shipped");
    for (const order of orders) expect(await evidence(order)).toEqual(shipped);
  });

  test.each([33, 4500, 6000])(
    "a batch with %i nested arrays in it is refused, and its neighbours are shipped",
    async (depth) => {
      const [before, after] = [newOrder(), newOrder()];
      await send("POST", "/orders/batch", { orders: [before] });
      const nested = `{"orders":[${"[".repeat(depth)}${"]".repeat(depth)}]}`;
      expect((await send("POST", "/orders/batch", nested)).status).toBe(400);
      await send("POST", "/orders/batch", { orders: [after] });
      for (const order of [before, after]) await untilState(order, "shipped");
    },
  );

  test("a batch without any valid order is 400", async () => {
    const { status, body } = await send("POST", "/orders/batch", { orders: [null, 7, {}] });
    expect(status).toBe(400);
    expect(body.rejected).toHaveLength(3);
  });

  test("the largest batch that is let in fits into one sendBatch", async () => {
    const orders = newOrders(MAX_ORDERS);
    const room = MAX_BATCH_BYTES - JSON.stringify({ orders }).length;
    const filled = orders.map((order) => ({
      ...order,
      lines: Array.from({ length: 10 }, (_, nth) => ({
        sku: `${nth}`.padEnd(Math.floor(room / MAX_ORDERS / 10) - 25, "x"),
        quantity: 1,
      })),
    }));
    expect(JSON.stringify({ orders: filled }).length).toBeGreaterThan(MAX_BATCH_BYTES * 0.9);
    const { status, body } = await send("POST", "/orders/batch", { orders: filled });
    expect({ status, accepted: body.accepted }).toEqual({ status: 202, accepted: MAX_ORDERS });
    for (const order of filled) await untilState(order, "shipped");
  });
});

describe("back-pressure", () => {
  test("an overloaded queue is 503 with Retry-After, and the same order goes through later", async () => {
    const order = newOrder();
    const busy = overloaded(1);
    const { status, headers, body } = await send("POST", "/orders", order, busy);
    expect(status).toBe(503);
    expect(headers.get("retry-after")).toMatch(/^\d+$/);
    expect(body.error).toContain("again");
    expect(headers.get("location")).toBe(`/orders/${order.orderId}`);
    // The queue has said no, or its yes was lost: nobody knows, and the order says so.
    expect(await viewOf(order)).toMatchObject({
      state: "accepted",
      next: expect.stringContaining("Nobody knows whether the queue has it"),
    });
    expect((await send("POST", "/orders", order, busy)).status).toBe(200);
    expect((await findOrder(env.DB, order.orderId))?.state).not.toBe("accepted");
    await untilState(order, "shipped");
    expect(await evidence(order)).toEqual(shipped);
  });

  test("a batch is sent whole or not at all", async () => {
    const orders = newOrders(10);
    const busy = overloaded(1);
    expect((await send("POST", "/orders/batch", { orders }, busy)).status).toBe(503);
    for (const order of orders) {
      expect((await viewOf(order)).state).toBe("accepted");
      expect(await instanceOf(order)).toBeNull();
    }
    const again = await send("POST", "/orders/batch", { orders }, busy);
    expect(again.body).toEqual({ accepted: 0, known: 10, rejected: [] });
    for (const order of orders) await untilState(order, "shipped");
  });

  test("a refusal changes nothing of an order that is known", async () => {
    const order = newOrder();
    await send("POST", "/orders", order);
    await untilState(order, "shipped");
    const fresh = newOrder();
    const orders = [order, fresh];
    expect((await send("POST", "/orders/batch", { orders }, overloaded(1))).status).toBe(503);
    expect((await findOrder(env.DB, order.orderId))?.state).toBe("shipped");
    expect((await findOrder(env.DB, fresh.orderId))?.state).toBe("accepted");
    expect(await evidence(order)).toEqual(shipped);
  });

  /** The real queue, whose first answer is lost: it has taken the messages, and nobody hears of it. */
  function forgetful(): Env {
    let lost = false;
    const queue = new Proxy(env.ORDERS, {
      get(target, name) {
        if (name !== "sendBatch") return Reflect.get(target, name);
        return async (messages: MessageSendRequest[]) => {
          const answer = await target.sendBatch(messages);
          if (lost) return answer;
          lost = true;
          throw new Error("[simulated] Network connection lost");
        };
      },
    });
    return { ...env, ORDERS: queue };
  }

  test.each([1, 3])(
    "%i of which the queue took the messages, and its answer was lost: found at any time, shipped once",
    async (count) => {
      const orders = newOrders(count);
      const [path, body] =
        count === 1 ? ["/orders", orders[0]] : (["/orders/batch", { orders }] as const);
      const queue = forgetful();
      expect((await send("POST", path, body, queue)).status).toBe(503);
      for (const order of orders) {
        const { status } = await send("GET", `/orders/${order.orderId}`);
        expect(status).toBe(200);
        await untilState(order, "shipped");
      }
      const again = await send("POST", path, body, queue);
      expect(again.status).toBe(count === 1 ? 200 : 202);
      for (const order of orders) {
        // The retention is over: the row alone knows.
        await (await instanceOf(order))?.delete();
        expect((await send("POST", path, body, queue)).status).toBe(again.status);
        await deliver([order]);
        expect(await instanceOf(order)).toBeNull();
        expect((await viewOf(order)).state).toBe("shipped");
        expect(await evidence(order)).toEqual(shipped);
      }
    },
  );

  test("without its database it is 503 too, and nothing is sent", async () => {
    const order = newOrder();
    const broken = { ...env, DB: undefined } as unknown as Env;
    expect((await send("POST", "/orders", order, broken)).status).toBe(503);
    expect(await instanceOf(order)).toBeNull();
  });
});

describe("a bad request is a clear 4xx and starts nothing", () => {
  const good = newOrder();
  const cases: [string, string, unknown, number, string][] = [
    ["no JSON", "/orders", "{ orderId:", 400, "JSON"],
    ["an empty body", "/orders", "", 400, "JSON"],
    ["null", "/orders", "null", 400, "object"],
    ["an array", "/orders", [], 400, "the body must be a JSON object"],
    ["a missing field", "/orders", { ...good, card: undefined }, 400, "card is missing"],
    ["a wrong type", "/orders", { ...good, cents: "450" }, 400, "cents"],
    ["half a cent", "/orders", { ...good, cents: 0.5 }, 400, "whole"],
    ["nothing to pay", "/orders", { ...good, cents: 0 }, 400, "at least 1"],
    ["no lines", "/orders", { ...good, lines: [] }, 400, "lines must not be empty"],
    [
      "101 lines",
      "/orders",
      { ...good, lines: Array(101).fill(good.lines[0]) },
      400,
      "at most 100",
    ],
    ["the id ..", "/orders", { ...good, orderId: ".." }, 400, "orderId must not be . or .."],
    ["an empty id", "/orders", { ...good, orderId: " " }, 400, "orderId"],
    [
      "an id of 1,000 characters",
      "/orders",
      { ...good, orderId: "x".repeat(1000) },
      400,
      "orderId",
    ],
    [
      "half a surrogate pair",
      "/orders",
      JSON.stringify(good).replace(good.orderId, "\\ud800"),
      400,
      "orderId",
    ],
    ["an unknown field", "/orders", { ...good, vip: true }, 400, "vip"],
    ["200 KB", "/orders", { ...good, card: "x".repeat(200_000) }, 413, "bytes"],
    ["no list", "/orders/batch", { orders: good }, 400, "list"],
    ["an empty list", "/orders/batch", { orders: [] }, 400, "empty"],
    ["101 orders", "/orders/batch", { orders: Array(101).fill(good) }, 400, "at most 100"],
    ["a bare list", "/orders/batch", [good], 400, "the body must be a JSON object"],
    ["1 MB", "/orders/batch", { orders: ["x".repeat(1_000_000)] }, 413, "bytes"],
  ];

  test.each(cases)("%s at %s", async (_name, path, body, expected, word) => {
    const answer = await send("POST", path, body);
    expect(answer.status).toBe(expected);
    expect(answer.body.error).toContain(word);
    expect(await findOrder(env.DB, good.orderId)).toBeNull();
  });

  test("a body that is not said to be JSON", async () => {
    const response = await exports.default.fetch("https://lesson.example/orders", {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: JSON.stringify(good),
    });
    expect(response.status).toBe(415);
  });

  test.each([
    ["of which a letter is no UTF-8", "application/json", 0xff, 400],
    ["in UTF-16", "application/json; charset=utf-16", 0x61, 415],
  ])("a body %s", async (_name, contentType, letter, expected) => {
    const bytes = new TextEncoder().encode(JSON.stringify({ ...good, orderId: "?" }));
    bytes[bytes.indexOf(0x3f)] = letter;
    const response = await exports.default.fetch("https://lesson.example/orders", {
      method: "POST",
      headers: { "content-type": contentType },
      body: bytes,
    });
    expect(response.status).toBe(expected);
  });

  test.each(["%20", "%00", "x".repeat(3000), "%0A", "a%E2%80%A8b"])(
    "a product that is called %j",
    async (sku) => {
      expect((await send("POST", `/products/${sku}/restock`)).status).toBe(400);
      expect((await send("GET", `/products/${sku}`)).status).toBe(400);
    },
  );

  test.each([
    ["GET", "/orders", "POST"],
    ["DELETE", "/orders/batch", "GET, POST"],
    ["PUT", "/orders/o-1", "GET"],
    ["GET", "/products/tea/restock", "POST"],
    ["GET", "/orders/o-1/restart", "POST"],
    ["GET", "/orders/o-1/cancel", "POST"],
    ["GET", "/products/tea/delivered", "POST"],
    ["POST", "/products/tea", "GET"],
  ])("the wrong method: %s %s", async (method, path, allow) => {
    const { status, headers } = await send(method, path);
    expect(status).toBe(405);
    expect(headers.get("allow")).toBe(allow);
  });

  test.each(["nobody", "a%40b", "%F0%9F%A6%8A", "%", "x".repeat(300)])(
    "an unknown order is 404: %s",
    async (id) => {
      expect((await send("GET", `/orders/${id}`)).status).toBe(404);
    },
  );

  test("an unknown path", async () => {
    expect((await send("GET", "/nothing")).status).toBe(404);
  });
});

test("an order whose request died between the row and the queue goes through when it is sent again", async () => {
  const order = newOrder();
  // The queue never answers, so the request never ends: as if its Worker had died.
  const silent = new Proxy(env.ORDERS, {
    get: (target, name) =>
      name === "sendBatch" ? () => new Promise(() => undefined) : Reflect.get(target, name),
  });
  const request = new Request("https://lesson.example/orders", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(order),
  });
  void worker.fetch(request, { ...env, ORDERS: silent }, createExecutionContext());
  await untilState(order, "accepted");
  expect(await instanceOf(order)).toBeNull();

  expect((await send("POST", "/orders", order)).status).toBe(200);
  await untilState(order, "shipped");
  const instance = await instanceOf(order);
  expect(instance && (await untilOver(instance)).status).toBe("complete");
});

test("what to try names this Worker's address", () => {
  expect(whatToTry("https://lesson.example")).toContain("https://lesson.example/orders");
});
