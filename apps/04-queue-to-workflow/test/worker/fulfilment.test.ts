import { introspectWorkflowInstance } from "cloudflare:test";
import { PATIENTLY } from "@durable-lessons/test-kit";
import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import { fulfilmentId } from "../../src/consume-orders.ts";
import { acceptOrders } from "../../src/orders.ts";
import {
  deliver,
  evidence,
  instanceOf,
  newOrder,
  script,
  send,
  shipped,
  untilState,
  viewOf,
} from "./helpers.ts";

/** Starts an order whose retries do not wait. */
async function fulfil(order = newOrder()) {
  await acceptOrders(env.DB, [{ orderId: order.orderId, fingerprint: "of a test" }]);
  const id = await fulfilmentId(order.orderId);
  await using instance = await introspectWorkflowInstance(env.FULFILMENT, id);
  await instance.modify((modifier) => modifier.disableRetryDelays());
  await env.FULFILMENT.create({ id, params: order });
  await Promise.race([instance.waitForStatus("complete"), instance.waitForStatus("errored")]);
  return { row: await viewOf(order), evidence: await evidence(order) };
}

describe("FulfilmentWorkflow", () => {
  test("providers that fail, and answers that are lost, do not double anything", async () => {
    const order = newOrder();
    await script(order, {
      "stock.reserve": ["fail", "fail-after-effect"],
      "payments.charge": ["fail-after-effect", "fail"],
      "carrier.ship": ["fail-after-effect"],
    });
    const { row, evidence: seen } = await fulfil(order);
    expect(row.state).toBe("shipped");
    expect(seen).toEqual(shipped);
  });

  test("a declined card is an answer: the stock goes back, nothing is retried", async () => {
    const order = newOrder();
    await script(order, { "payments.charge": ["decline"] });
    const { row, evidence: seen } = await fulfil(order);
    expect(row).toMatchObject({ state: "declined", parcelId: null });
    expect(row.reason).toBeTruthy();
    expect(seen).toEqual({ "stock.reserved": 1, "card.declined": 1, "stock.released": 1 });
  });

  /** The stock and the money, there and back. */
  const takenBack = {
    "stock.reserved": 1,
    "card.charged": 1,
    "card.refunded": 1,
    "stock.released": 1,
  };

  test("a carrier that never comes: the money and the stock go back", async () => {
    const order = newOrder();
    await script(order, { "carrier.ship": { always: "fail" } });
    const { row, evidence: seen } = await fulfil(order);
    expect(row).toMatchObject({ state: "cancelled" });
    expect(row.reason).toContain("carrier.ship");
    expect(seen).toEqual({
      ...takenBack,
      // Nobody knows that it has not left.
      "parcel.recalled": 1,
    });
  });

  test("a parcel whose receipt is always lost is called back", async () => {
    const order = newOrder();
    await script(order, { "carrier.ship": { always: "fail-after-effect" } });
    const { row, evidence: seen } = await fulfil(order);
    expect(row).toMatchObject({ state: "cancelled" });
    expect(seen).toEqual({
      ...takenBack,
      "parcel.shipped": 1,
      "parcel.recalled": 1,
    });
  });

  test("a charge whose answer is always lost is found and paid back", async () => {
    const order = newOrder();
    await script(order, { "payments.charge": { always: "fail-after-effect" } });
    const { row, evidence: seen } = await fulfil(order);
    expect(row).toMatchObject({ state: "cancelled" });
    expect(seen).toEqual(takenBack);
  });

  test("a cancelled order is closed: no message starts it again", async () => {
    const order = newOrder();
    await script(order, { "stock.reserve": { always: "fail" } });
    const { row } = await fulfil(order);
    expect(row.state).toBe("cancelled");
    await (await instanceOf(order))?.delete();
    await deliver([order]);
    expect(await instanceOf(order)).toBeNull();
  });
});

describe("GET /orders/:id", () => {
  test("goes from accepted by way of queued and the steps to shipped", async () => {
    const order = newOrder();
    // The charge hangs, so that the order stands still where one can look at it.
    await script(order, { "payments.charge": [{ slowMs: 3000 }] });
    await send("POST", "/orders", order);
    expect(["queued", "in progress"]).toContain((await viewOf(order)).state);
    const view = await vi.waitUntil(async () => {
      const seen = await viewOf(order);
      return seen.steps?.includes("reserve stock") && seen;
    }, PATIENTLY);
    expect(view).toMatchObject({ state: "in progress", steps: ["reserve stock"], parcelId: null });
    expect(await untilState(order, "shipped")).toMatchObject({
      parcelId: expect.stringMatching(/^parcel_shipped_/),
      chargeId: expect.stringMatching(/^card_charged_/),
    });
  });

  test("says accepted as long as only the row is there", async () => {
    const order = newOrder();
    await acceptOrders(env.DB, [{ orderId: order.orderId, fingerprint: "of a test" }]);
    expect(await viewOf(order)).toMatchObject({ state: "accepted", steps: [] });
  });

  test("says failed where the instance was terminated", async () => {
    const order = newOrder();
    await script(order, { "stock.reserve": ["hang"] });
    await send("POST", "/orders", order);
    await untilState(order, "in progress");
    await (await instanceOf(order))?.terminate();
    expect(await untilState(order, "failed")).toMatchObject({ steps: [] });
  });
});
