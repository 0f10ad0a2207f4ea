import { introspectWorkflowInstance } from "cloudflare:test";
import { PATIENTLY, untilOver } from "@durable-lessons/test-kit";
import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import { fulfilmentId } from "../../src/consume-orders.ts";
import { cancelFailed, claimRestart, findOrder } from "../../src/orders.ts";
import type { FulfilmentOrder } from "../../src/schemas.ts";
import {
  deliver,
  evidence,
  instanceOf,
  newOrder,
  operate,
  script,
  send,
  shipped,
  untilState,
  viewOf,
} from "./helpers.ts";

const restart = ({ orderId }: FulfilmentOrder) => operate(`/orders/${orderId}/restart`);
const cancel = ({ orderId }: FulfilmentOrder, reason = "Paid back by hand.") =>
  operate(`/orders/${orderId}/cancel`, { reason });

/** An order that somebody has stopped while its card was charged. */
async function stopped() {
  const order = newOrder();
  await script(order, { "payments.charge": ["hang-after-effect"] });
  await send("POST", "/orders", order);
  await vi.waitUntil(async () => (await evidence(order))["card.charged"] === 1, PATIENTLY);
  await vi.waitUntil(async () => (await findOrder(env.DB, order.orderId))?.started_at, PATIENTLY);
  await (await instanceOf(order))?.terminate();
  return order;
}

/** An order that could neither be shipped nor given back: the refund fails for good. */
async function halfUndone() {
  const order = newOrder();
  await script(order, {
    "carrier.ship": { always: "fail" },
    "payments.refund": { always: "fail" },
  });
  const id = await fulfilmentId(order.orderId);
  await using instance = await introspectWorkflowInstance(env.FULFILMENT, id);
  await instance.modify((modifier) => modifier.disableRetryDelays());
  await send("POST", "/orders", order);
  await instance.waitForStatus("errored");
  await untilState(order, "failed");
  // Disposing the introspector deletes the instance.
  return { order, view: await viewOf(order), refusal: await restart(order) };
}

const charged = { "stock.reserved": 1, "card.charged": 1 };

describe("an order that has failed", () => {
  test("says so, with the reason and the way on, and posted again it is 409", async () => {
    const order = await stopped();
    expect(await viewOf(order)).toMatchObject({
      state: "failed",
      reason: "Its instance was stopped.",
      next: expect.stringContaining(`/orders/${order.orderId}/restart`),
    });
    const { status, headers, body } = await send("POST", "/orders", order);
    expect(status).toBe(409);
    expect(headers.get("location")).toBe(`/orders/${order.orderId}`);
    expect(body.error).toContain("operator");
    const batch = await send("POST", "/orders/batch", { orders: [order, newOrder()] });
    expect(batch).toMatchObject({ status: 202, body: { accepted: 1, rejected: [{ index: 0 }] } });
    expect(await evidence(order)).toEqual(charged);
  });

  test.each([true, false])(
    "stays so when its retention is over, whether somebody has looked before or not: %s",
    async (isSeen) => {
      const order = await stopped();
      if (isSeen) await untilState(order, "failed");
      await (await instanceOf(order))?.delete();

      expect((await send("POST", "/orders", order)).status).toBe(409);
      const { ids, acked } = await deliver([order]);
      expect(acked).toEqual(ids);
      expect(await instanceOf(order)).toBeNull();
      expect(await viewOf(order)).toMatchObject({ state: "failed", steps: [] });
      expect(await evidence(order)).toEqual(charged);
      const refusal = await restart(order);
      expect(refusal).toMatchObject({ status: 409 });
      expect(refusal.body.error).toContain("forgotten");
    },
  );

  test("that was stopped is restarted by an operator, and nothing is called twice", async () => {
    const order = await stopped();
    expect(await restart(order)).toMatchObject({ status: 202 });
    await untilState(order, "shipped");
    expect(await evidence(order)).toEqual(shipped);
    expect((await restart(order)).status).toBe(409);
    expect((await cancel(order)).status).toBe(409);
  });

  test("whose rollback has begun is not restarted: its reason can be read, and it is cancelled", async () => {
    const { order, view, refusal } = await halfUndone();
    expect(view.reason).toContain("carrier.ship");
    expect(refusal).toMatchObject({ status: 409 });
    expect(refusal.body.error).toContain("rollback has begun");
    expect(await cancel(order)).toMatchObject({ status: 200 });
    expect(await viewOf(order)).toMatchObject({ state: "cancelled", reason: "Paid back by hand." });
    expect((await send("POST", "/orders", order)).status).toBe(200);
    expect((await evidence(order))["parcel.shipped"]).toBeUndefined();
  });

  test.each(["restart", "cancel"])(
    "is restarted or cancelled, not both, of ten commands at once, a %s first",
    async (first) => {
      const order = await stopped();
      const [even, odd] = first === "restart" ? [restart, cancel] : [cancel, restart];
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, nth) => (nth % 2 ? odd(order) : even(order))),
      );
      const winners = answers.filter((answer) => answer.status !== 409);
      expect(winners).toHaveLength(1);
      const isRestarted = winners[0]?.status === 202;
      await untilState(order, isRestarted ? "shipped" : "cancelled");
      expect(await evidence(order)).toEqual(isRestarted ? shipped : charged);
    },
  );

  test("that is being restarted cannot be cancelled, not even where the restart came to nothing", async () => {
    const order = await stopped();
    const row = await findOrder(env.DB, order.orderId);
    if (!row) throw new Error("no row");
    // The Worker dies between the row and the instance.
    expect(await claimRestart(env.DB, row)).toBe(true);
    expect(await claimRestart(env.DB, row)).toBe(false);
    expect(await cancelFailed(env.DB, row, "Too late.")).toBe(false);
    expect((await cancel(order)).status).toBe(409);
    expect((await restart(order)).status).toBe(202);
    await untilState(order, "shipped");
    expect(await evidence(order)).toEqual(shipped);
  });
});

describe("an operator's routes", () => {
  test.each(["restart", "cancel"])(
    "%s needs the token, whether there is an order or not",
    async (action) => {
      const path = `/orders/nobody/${action}`;
      const body = { reason: "No reason." };
      expect((await send("POST", path, body, env, null)).status).toBe(401);
      expect((await send("POST", path, body, env, "another")).status).toBe(401);
      expect((await send("POST", path, body, { ...env, OPERATOR_TOKEN: "" }, "")).status).toBe(503);
      expect((await operate(path, body)).status).toBe(404);
    },
  );

  test("an order that goes its way is neither restarted nor cancelled", async () => {
    const order = newOrder();
    await script(order, { "stock.reserve": ["hang"] });
    await send("POST", "/orders", order);
    await untilState(order, "in progress");
    expect((await restart(order)).status).toBe(409);
    expect((await cancel(order)).status).toBe(409);
    const instance = await instanceOf(order);
    await instance?.terminate();
    if (instance) await untilOver(instance);
  });

  test("a reason is one line", async () => {
    const order = await stopped();
    for (const reason of ["", "two\nlines", undefined]) {
      const { status } = await operate(`/orders/${order.orderId}/cancel`, { reason });
      expect(status).toBe(400);
    }
    expect((await viewOf(order)).state).toBe("failed");
  });
});
