import { createMessageBatch } from "cloudflare:test";
import { fingerprintOf } from "@durable-lessons/idempotency";
import { untilOver } from "@durable-lessons/test-kit";
import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import { fulfilmentId } from "../../src/consume-orders.ts";
import worker from "../../src/index.ts";
import { acceptOrders, findOrder } from "../../src/orders.ts";
import { QUEUES } from "../../src/queues.ts";
import type { FulfilmentOrder } from "../../src/schemas.ts";
import {
  deliver,
  evidence,
  instanceOf,
  newOrder,
  newOrders,
  refusing,
  script,
  send,
  shipped,
  untilState,
} from "./helpers.ts";

const letterOf = (messageId: string) =>
  env.DB.prepare("SELECT body, reason FROM dead_letters WHERE message_id = ?1")
    .bind(messageId)
    .first<{ body: string; reason: string }>();

/** Rows of orders whose messages the test delivers by hand. */
const accept = async (orders: FulfilmentOrder[]) =>
  acceptOrders(
    env.DB,
    await Promise.all(
      orders.map(async (order) => ({
        orderId: order.orderId,
        fingerprint: await fingerprintOf(order),
      })),
    ),
  );

describe("the consumer", () => {
  test("starts one fulfilment per order, however often the message comes", async () => {
    const order = newOrder();
    await accept([order]);
    const first = await deliver([order]);
    const second = await deliver([order, order]);
    expect(first.acked).toEqual(first.ids);
    expect(second.acked).toEqual(second.ids);
    await untilState(order, "shipped");
    const third = await deliver([order]);
    expect(third.acked).toEqual(third.ids);
    expect(await evidence(order)).toEqual(shipped);
  });

  test("one invalid message in a hundred is kept with its reason, and the other 99 are started", async () => {
    const orders = newOrders(100);
    const bodies: unknown[] = [...orders];
    bodies[41] = { ...orders[41], cents: -1 };
    const { ids, acked, retried } = await deliver(bodies);
    expect(acked.toSorted()).toEqual(ids.toSorted());
    expect(retried).toEqual([]);
    expect(await letterOf(ids[41] ?? "")).toMatchObject({ reason: "cents must be at least 1" });
    for (const [nth, order] of orders.entries()) {
      const instance = await instanceOf(order);
      expect(instance === null).toBe(nth === 41);
      if (instance) await untilOver(instance);
    }
  });

  test("another order under an id that is taken is kept with its reason, and its neighbours are started", async () => {
    const [order, neighbour] = newOrders(2) as [FulfilmentOrder, FulfilmentOrder];
    await accept([order, neighbour]);
    const { ids, acked } = await deliver([{ ...order, cents: 1 }, neighbour, order]);
    expect(acked.toSorted()).toEqual(ids.toSorted());
    expect(await letterOf(ids[0] ?? "")).toMatchObject({
      reason: "There is another order with this id.",
    });
    for (const one of [order, neighbour]) {
      await untilState(one, "shipped");
      expect(await evidence(one)).toEqual(shipped);
    }
  });

  test.each([null, "text", 7, [], {}])("a message that holds %j is kept", async (body) => {
    const { ids, acked } = await deliver([body]);
    expect(acked).toEqual(ids);
    expect((await letterOf(ids[0] ?? ""))?.body).toBe(JSON.stringify(body));
  });

  test("a hundred messages are one call of createBatch", async () => {
    const orders = newOrders(100);
    const { calls, workerEnv } = refusing(0);
    await deliver(orders, { workerEnv });
    expect(calls).toEqual({ refused: 0, passed: 1 });
    for (const order of orders) {
      const instance = await instanceOf(order);
      expect(instance && (await untilOver(instance)).status).toBe("complete");
    }
  }, 120_000);
});

describe("creating is refused", () => {
  test("nothing is acked before its instance is there, and nothing is lost", async () => {
    const orders = newOrders(3);
    await accept(orders);
    // createInstancesOnce tries a call that fails once more: two refusals are one failed batch.
    const { calls, workerEnv } = refusing(2);
    const first = await deliver(orders, { workerEnv });
    expect(calls).toEqual({ refused: 2, passed: 0 });
    expect(first.acked).toEqual([]);
    expect(first.retried).toEqual(first.ids);
    for (const order of orders) expect(await instanceOf(order)).toBeNull();

    const second = await deliver(orders, { workerEnv });
    expect(second.acked).toEqual(second.ids);
    for (const order of orders) await untilState(order, "shipped");
    for (const order of orders) expect(await evidence(order)).toEqual(shipped);
  });

  test("an invalid neighbour does not wait with the others", async () => {
    const { workerEnv } = refusing(Infinity);
    const { ids, acked, retried } = await deliver([newOrder(), {}], { workerEnv });
    expect(retried).toEqual([ids[0]]);
    expect(acked).toEqual([ids[1]]);
  });

  test("a retry waits: seconds at first, minutes at last", async () => {
    const { workerEnv } = refusing(Infinity);
    const delays: Record<number, number | undefined> = {};
    for (const attempts of [1, 4, 20]) {
      const message = {
        id: crypto.randomUUID(),
        timestamp: new Date(),
        attempts,
        body: newOrder(),
      };
      const batch = createMessageBatch(QUEUES.orders, [message]);
      // getQueueResult drops the delay (measured locally).
      vi.spyOn(batch.messages[0] as Message, "retry").mockImplementation((options) => {
        delays[attempts] = options?.delaySeconds;
      });
      await worker.queue(batch, workerEnv);
    }
    expect(delays[1]).toBeOneOf([1, 2]);
    expect(delays[4]).toBeGreaterThanOrEqual(8);
    expect(delays[4]).toBeLessThanOrEqual(16);
    expect(delays[20]).toBeGreaterThanOrEqual(150);
    expect(delays[20]).toBeLessThanOrEqual(300);
  });

  test("without the database every message is retried, none is acked", async () => {
    const broken = { ...env, DB: undefined } as unknown as Env;
    const { ids, acked, retried } = await deliver([newOrder(), {}], { workerEnv: broken });
    expect(acked).toEqual([]);
    expect(retried.toSorted()).toEqual(ids.toSorted());
  });
});

test("an order writes four rows, and no index: what docs/scale.md counts with", async () => {
  const orderId = newOrder().orderId;
  const written = async (sql: string) =>
    (await env.DB.prepare(sql).bind(orderId).run()).meta.rows_written;
  expect([
    await written(
      `INSERT INTO orders (order_id, fingerprint, state, created_at, updated_at)
       VALUES (?1, '', 'accepted', 0, 0)`,
    ),
    await written("UPDATE orders SET state = 'queued' WHERE order_id = ?1"),
    await written("UPDATE orders SET started_at = 0 WHERE order_id = ?1"),
    await written("UPDATE orders SET state = 'shipped' WHERE order_id = ?1"),
  ]).toEqual([1, 1, 1, 1]);
});

describe("after the instance's retention", () => {
  test("a late message of a shipped order starts nothing: its row is still there", async () => {
    const order = newOrder();
    await send("POST", "/orders", order);
    const before = await untilState(order, "shipped");
    await (await instanceOf(order))?.delete();
    expect(await instanceOf(order)).toBeNull();

    const { ids, acked } = await deliver([order]);
    expect(acked).toEqual(ids);
    expect(await instanceOf(order)).toBeNull();
    expect((await send("POST", "/orders", order)).status).toBe(200);
    expect(await untilState(order, "shipped")).toEqual({ ...before, steps: [] });
    expect(await evidence(order)).toEqual(shipped);
  });
});

describe("dead letters", () => {
  test("an order whose message has died says so, and gets through when it is sent again", async () => {
    const order = newOrder();
    await accept([order]);
    const { ids } = await deliver([order], { queue: QUEUES.ordersDeadLetters });
    const dead = await untilState(order, "dead-lettered");
    expect(dead.reason).toContain("Send the order again");
    expect(await letterOf(ids[0] ?? "")).toMatchObject({ body: JSON.stringify(order) });

    // It hangs, so that one can see it on its way.
    await script(order, { "stock.reserve": ["hang"] });
    expect((await send("POST", "/orders", order)).status).toBe(200);
    expect(await findOrder(env.DB, order.orderId)).toMatchObject({ state: "queued", reason: null });
    await untilState(order, "in progress");
    await (await instanceOf(order))?.terminate();
  });

  test("a message that dies because nobody could note the start leaves the order to its instance", async () => {
    const order = newOrder();
    await accept([order]);
    await script(order, { "stock.reserve": ["hang"] });
    await env.FULFILMENT.create({ id: await fulfilmentId(order.orderId), params: order });
    await deliver([order], { queue: QUEUES.ordersDeadLetters });
    expect(await findOrder(env.DB, order.orderId)).toMatchObject({
      state: "queued",
      started_at: expect.any(Number),
    });
    await (await instanceOf(order))?.terminate();
  });

  test("a message that dies after its order got through another way changes nothing", async () => {
    const order = newOrder();
    await send("POST", "/orders", order);
    await untilState(order, "shipped");
    await deliver([order], { queue: QUEUES.ordersDeadLetters });
    expect((await findOrder(env.DB, order.orderId))?.state).toBe("shipped");
  });

  test("a dead letter that nobody can read is kept all the same, once", async () => {
    const message = { id: crypto.randomUUID(), timestamp: new Date(), attempts: 1, body: "text" };
    for (const _ of [1, 2]) {
      await worker.queue(createMessageBatch(QUEUES.ordersDeadLetters, [message]), env);
    }
    expect(await letterOf(message.id)).toMatchObject({ body: '"text"' });
  });

  test("a dead letter that cannot be stored is not acked", async () => {
    const broken = { ...env, DB: undefined } as unknown as Env;
    await expect(
      deliver([newOrder()], { queue: QUEUES.ordersDeadLetters, workerEnv: broken }),
    ).rejects.toThrow("prepare");
  });
});
