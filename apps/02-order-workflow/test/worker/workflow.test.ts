import { introspectWorkflowInstance } from "cloudflare:test";
import { PATIENTLY, untilOver } from "@durable-lessons/test-kit";
import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import { EVENTS } from "../../src/events.ts";
import { placeOrder } from "../../src/place-order.ts";
import { stepsOf } from "../../src/steps.ts";
import {
  approve,
  evidence,
  idOf,
  newOrder,
  resume,
  rowOf,
  start,
  untilState,
  untilWaiting,
} from "./helpers.ts";

const delivered = { "card.charged": 1, "email.sent": 1, "parcel.shipped": 1, "stock.reserved": 1 };
const givenBack = {
  "card.charged": 1,
  "card.refunded": 1,
  "stock.released": 1,
  "stock.reserved": 1,
};
const down = { always: "fail" } as const;
const limited = { code: "rate_limited", message: "too many requests", retryAfterSeconds: 1 };

/** Starts an order and waits until it is over, approved where it asks for it. */
async function approved(faults: Parameters<typeof start>[0]) {
  const { order, instance } = await start(faults);
  await approve(instance);
  const over = await untilOver(instance);
  return { order, instance, over, effects: await evidence(idOf(order)) };
}

test("an approved order is charged, shipped and mailed once", async () => {
  const { order, over, effects } = await approved({});
  expect(over).toMatchObject({ status: "complete", output: { status: "shipped" } });
  expect(effects).toEqual(delivered);
  expect(await rowOf(order)).toMatchObject({
    state: "complete",
    total_cents: 900,
    parcel_id: expect.stringContaining("parcel"),
    reason: null,
  });
});

describe("retries", () => {
  test("a provider that fails a few times delays the order and doubles nothing", async () => {
    const twice = ["fail", "fail-after-effect"] as const;
    const { over, effects } = await approved({
      "stock.reserve": [...twice],
      "payments.charge": [...twice],
      "carrier.ship": [...twice],
      "mail.send": [...twice],
    });
    expect(over.status).toBe("complete");
    expect(effects).toEqual(delivered);
  });

  test("B28: the charge waits as long as the provider says, not as long as the default", async () => {
    const { instance, effects } = await approved({ "payments.charge": [limited, "fail"] });
    const charge = (await stepsOf(instance)).find(({ name }) => name === "charge card");
    expect(charge?.attempts.map(({ retryDelayMs }) => retryDelayMs)).toEqual([
      1000,
      1000,
      undefined,
    ]);
    expect(charge?.attempts[0]?.error?.message).toContain("rate_limited: too many requests");
    expect(effects).toEqual(delivered);
  });

  test("a decline is asked for once, and gives the stock back", async () => {
    const { order, over, effects } = await approved({ "payments.charge": ["decline"] });
    expect(over).toMatchObject({
      status: "complete",
      output: { status: "declined", code: "card_declined" },
    });
    expect(effects).toEqual({ "card.declined": 1, "stock.released": 1, "stock.reserved": 1 });
    expect(await rowOf(order)).toMatchObject({
      state: "declined",
      reason: expect.stringContaining("card_declined"),
    });
  });

  test("an address that is unknown is tried once, and its error arrives whole", async () => {
    const fault = { code: "address_unknown", message: "there is no such street" };
    const { order, instance } = await approved({ "carrier.ship": { always: fault } });
    const ship = (await stepsOf(instance)).find(({ name }) => name === "ship parcel");
    expect(ship?.attempts).toHaveLength(1);
    expect((await rowOf(order))?.reason).toContain("address_unknown: there is no such street");
  });
});

/** What the platform tells of the last attempt that failed. Of the instance the local engine tells less. */
const lastErrorOf = async (instance: WorkflowInstance) =>
  (await stepsOf(instance)).flatMap(({ attempts }) => attempts).findLast(({ error }) => error)
    ?.error?.message;

describe("rollback", () => {
  test("B29: a carrier that is down for good gives everything back, the last step first", async () => {
    const { order, instance, over, effects } = await approved({ "carrier.ship": down });
    expect(over).toMatchObject({
      status: "errored",
      error: { message: expect.stringContaining("carrier.ship: unavailable") },
    });
    expect(effects).toEqual({ ...givenBack, "parcel.recalled": 1 });
    const undone = (await stepsOf(instance)).filter(({ kind }) => kind === "rollback");
    expect(undone.map(({ name }) => name)).toEqual(["ship parcel", "charge card", "reserve stock"]);
    expect(await rowOf(order)).toMatchObject({
      state: "cancelled",
      reason: expect.stringContaining("unavailable"),
    });
  });

  test("a charge whose answers are all lost is found by its key and refunded", async () => {
    const lost = { always: "fail-after-effect" } as const;
    const { effects } = await approved({ "payments.charge": lost });
    expect(effects).toEqual(givenBack);
  });

  test("a parcel whose receipts are all lost is recalled", async () => {
    const lost = { always: "fail-after-effect" } as const;
    const { effects } = await approved({ "carrier.ship": lost });
    expect(effects).toEqual({ ...givenBack, "parcel.shipped": 1, "parcel.recalled": 1 });
  });

  test("an undo that fails now and then is retried, and gives back once", async () => {
    const { effects } = await approved({
      "carrier.ship": down,
      "payments.refund": ["fail", "fail-after-effect"],
      "stock.release": ["fail-after-effect"],
    });
    expect(effects).toEqual({ ...givenBack, "parcel.recalled": 1 });
  });

  test("an undo that fails for good stops in the middle; a restart finishes it", async () => {
    const { order, instance, effects } = await approved({
      "carrier.ship": down,
      "payments.refund": Array(9).fill("fail"),
    });
    expect(effects).toEqual({ "card.charged": 1, "parcel.recalled": 1, "stock.reserved": 1 });
    expect(await rowOf(order)).toMatchObject({ state: "cancelling" });
    const refund = (await stepsOf(instance)).findLast(({ kind }) => kind === "rollback");
    expect(refund).toMatchObject({ name: "charge card", state: "errored" });
    expect(refund?.attempts.at(-1)?.error?.message).toContain("payments.refund: unavailable");

    await instance.restart();
    await untilState(order, "cancelled");
    expect(await evidence(idOf(order))).toEqual({ ...givenBack, "parcel.recalled": 1 });
  });

  test("a mail that fails for good takes nothing back, and can be restarted", async () => {
    const { order, instance, over, effects } = await approved({
      "mail.send": Array(6).fill("fail"),
    });
    expect(over.error?.message).toContain("mail.send: unavailable");
    expect(effects).toEqual({ "card.charged": 1, "parcel.shipped": 1, "stock.reserved": 1 });

    await instance.restart({ from: { name: "send mail" } });
    await untilState(order, "complete");
    expect(await evidence(idOf(order))).toEqual(delivered);
  });

  test("B22: terminate with rollback gives everything back", async () => {
    const { order, instance } = await start();
    await untilState(order, "in review");
    await instance.terminate({ rollback: true });
    expect(await untilOver(instance)).toMatchObject({ status: "terminated" });
    expect(await evidence(idOf(order))).toEqual(givenBack);
    expect(await rowOf(order)).toMatchObject({ state: "cancelled" });
  });

  test("a restart of a declined order leaves it declined, and gives nothing back again", async () => {
    const { order, instance } = await start({ "payments.charge": ["decline"] });
    await untilOver(instance);
    const before = await rowOf(order);
    await instance.restart();
    expect((await untilOver(instance)).status).toBe("errored");
    expect(await lastErrorOf(instance)).toContain("is declined");
    expect(await rowOf(order)).toMatchObject({ state: "declined", reason: before?.reason });
    expect(await evidence(idOf(order))).toEqual({
      "card.declined": 1,
      "stock.released": 1,
      "stock.reserved": 1,
    });
  });

  test("a restart of what was given back, from anywhere, has no further effect", async () => {
    const { order, instance } = await approved({ "carrier.ship": Array(6).fill("fail") });
    await instance.restart({ from: { name: "ship parcel" } });
    await untilOver(instance);
    await instance.restart();
    expect((await untilOver(instance)).status).toBe("errored");
    expect(await lastErrorOf(instance)).toContain("is cancelled");
    expect(await evidence(idOf(order))).toEqual({ ...givenBack, "parcel.recalled": 1 });
    expect(await rowOf(order)).toMatchObject({ state: "cancelled" });
  });
});

describe("review", () => {
  test("B7: an event that comes before the wait is kept for it", async () => {
    const { order, instance } = await start({ "stock.reserve": [{ slowMs: 200 }] });
    await approve(instance);
    expect(await rowOf(order)).toMatchObject({ state: "received" });
    expect(await untilOver(instance)).toMatchObject({ status: "complete" });
  });

  test("a double click approves once", async () => {
    const { order, instance } = await start();
    await untilState(order, "in review");
    await Promise.all([approve(instance), approve(instance)]);
    expect(await untilOver(instance)).toMatchObject({ status: "complete" });
    expect(await evidence(idOf(order))).toEqual(delivered);
  });

  test("a refusal gives everything back", async () => {
    const { order, instance } = await start();
    const payload = { approved: false, reviewer: "eve" };
    await instance.sendEvent({ type: EVENTS.orderReview, payload });
    expect((await untilOver(instance)).status).toBe("errored");
    expect((await rowOf(order))?.reason).toContain("Not approved: eve.");
    expect(await evidence(idOf(order))).toEqual(givenBack);
  });

  test("an event that is no review approves nothing", async () => {
    const { order, instance } = await start();
    await instance.sendEvent({ type: EVENTS.orderReview, payload: { approved: "yes" } });
    expect(await untilOver(instance)).toMatchObject({ status: "errored" });
    expect(await evidence(idOf(order))).toEqual(givenBack);
  });

  test("B8: without an answer the order is cancelled; a late one changes nothing", async () => {
    const order = newOrder();
    await using introspector = await introspectWorkflowInstance(env.ORDERS, idOf(order));
    await introspector.modify(async (modifier) => {
      await modifier.forceEventTimeout({ name: "wait for review" });
    });
    const { instance } = await start({}, order);
    expect((await untilOver(instance)).status).toBe("errored");
    expect((await rowOf(order))?.reason).toContain("Not approved: nobody answered in time.");
    await approve(instance);
    expect(await evidence(idOf(order))).toEqual(givenBack);
    expect(await rowOf(order)).toMatchObject({ state: "cancelled" });
  });

  test("a review that was taken counts, even if its event comes too late", async () => {
    const order = newOrder();
    await using introspector = await introspectWorkflowInstance(env.ORDERS, idOf(order));
    await introspector.modify(async (modifier) => {
      await modifier.forceEventTimeout({ name: "wait for review" });
    });
    const review = JSON.stringify({ approved: true, reviewer: "bob" });
    const { instance } = await start({ "stock.reserve": [{ slowMs: 200 }] }, order);
    await env.DB.prepare("UPDATE orders SET review = ?2 WHERE order_id = ?1")
      .bind(order.orderId, review)
      .run();
    expect(await untilOver(instance)).toMatchObject({ status: "complete" });
    expect(await evidence(idOf(order))).toEqual(delivered);
  });
});

describe("pause and resume", () => {
  test("B21: a paused order does nothing, keeps its review, and goes on when resumed", async () => {
    const { order, instance } = await start();
    await untilWaiting(instance);
    await instance.pause();
    await vi.waitUntil(async () => (await instance.status()).status === "paused", PATIENTLY);
    await approve(instance);
    expect((await instance.status()).status).toBe("paused");
    expect(await rowOf(order)).toMatchObject({ state: "in review", review: null });

    await resume(instance);
    expect(await untilOver(instance)).toMatchObject({ status: "complete" });
    expect(await evidence(idOf(order))).toEqual(delivered);
  });
});

test("B31: the order outlives its instance, and is not worked on again", async () => {
  const { order, instance } = await approved({});
  await instance.delete();
  const { order: again } = await start({}, order).catch(() => ({ order }));
  expect(await rowOf(again)).toMatchObject({ state: "complete" });
  await expect(env.ORDERS.get(idOf(order))).rejects.toThrow("instance.not_found");
  expect(await evidence(idOf(order))).toEqual(delivered);
});

test("B31: an order that stopped halfway is not begun again either, once its instance is forgotten", async () => {
  const { order, instance } = await approved({ "mail.send": Array(6).fill("fail") });
  await instance.delete();
  const placed = await placeOrder(env, order);
  expect(placed).toMatchObject({ state: "known", row: { state: "shipped" } });
  await expect(env.ORDERS.get(idOf(order))).rejects.toThrow("instance.not_found");
});
