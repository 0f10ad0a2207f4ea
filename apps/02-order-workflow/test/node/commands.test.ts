import { describe, expect, test } from "vitest";
import { approval, delivered, givenBack, idOf, inReview, isOver, lessonOfFile } from "./helpers.ts";

const { shop } = lessonOfFile();

/** The amounts of all charges and refunds of an order. */
async function centsOf(orderId: string) {
  const { WORLD } = await shop.bindings();
  const { results } = await WORLD.prepare(
    `SELECT kind, detail ->> '$.cents' AS cents FROM effects
     WHERE run = ?1 AND kind LIKE 'card.%' ORDER BY id`,
  )
    .bind(idOf(orderId))
    .all<{ kind: string; cents: number }>();
  return Object.fromEntries(results.map(({ kind, cents }) => [kind, cents]));
}

/** Sells tea at another price, or, for null, no more. The tests of this file run one after the other. */
async function sellTeaAt(cents: number | null) {
  const { DB } = await shop.bindings();
  await DB.prepare("DELETE FROM products WHERE sku = 'tea'").run();
  if (cents !== null) {
    await DB.prepare("INSERT INTO products (sku, cents) VALUES ('tea', ?1)").bind(cents).run();
  }
}

const instanceOf = async (orderId: string) => (await shop.bindings()).ORDERS.get(idOf(orderId));

describe("what is undone is what was done", () => {
  test.each([
    ["has another price", 500],
    ["is no longer sold", null],
  ])(
    "a healthy order is restarted although its product %s meanwhile: it goes on at its price",
    async (_name, cents) => {
      const { request, path } = await shop.place();
      await shop.until(request.orderId, inReview);
      try {
        await sellTeaAt(cents);
        expect((await shop.send("POST", `${path}/restart`, {})).status).toBe(202);
        await shop.until(request.orderId, ({ steps }) => steps?.at(-1)?.name === "wait for review");
        expect((await shop.send("POST", `${path}/review`, approval)).status).toBe(202);
        await shop.until(request.orderId, ({ state }) => state === "complete");
      } finally {
        await sellTeaAt(450);
      }
      expect(await shop.evidence(request.orderId)).toEqual(delivered);
      expect(await centsOf(request.orderId)).toEqual({ "card.charged": 900 });
      expect(await shop.order(request.orderId)).toMatchObject({ totalCents: 900 });
    },
  );

  test.each([
    ["has another price", 500],
    ["is no longer sold", null],
  ])(
    "an undo that failed in the middle is finished although the product %s meanwhile",
    async (_name, cents) => {
      const { request, path } = await shop.place({ "payments.refund": Array(9).fill("fail") });
      await shop.until(request.orderId, inReview);
      await shop.send("POST", `${path}/review`, { ...approval, approved: false });
      expect(await shop.until(request.orderId, isOver)).toMatchObject({ state: "cancelling" });
      try {
        await sellTeaAt(cents);
        expect((await shop.send("POST", `${path}/restart`, {})).status).toBe(202);
        await shop.until(request.orderId, ({ state }) => state === "cancelled");
      } finally {
        await sellTeaAt(450);
      }
      expect(await shop.evidence(request.orderId)).toEqual(givenBack);
      expect(await centsOf(request.orderId)).toEqual({ "card.charged": 900, "card.refunded": 900 });
    },
  );

  test("an order that is there already is known, although its product is no longer sold", async () => {
    const { request } = await shop.place();
    try {
      await sellTeaAt(null);
      expect((await shop.send("POST", "/orders", request)).status).toBe(200);
    } finally {
      await sellTeaAt(450);
    }
  });
});

describe("an answer is true", () => {
  test("nobody reviews an order whose instance was terminated elsewhere: 409, and a restart takes it up", async () => {
    const { request, path } = await shop.place();
    await shop.until(request.orderId, ({ steps }) => steps?.at(-1)?.name === "wait for review");
    await (await instanceOf(request.orderId)).terminate();
    const { status, body } = await shop.send("POST", `${path}/review`, approval);
    expect({ status, error: body.error }).toEqual({
      status: 409,
      error: "The instance is terminated: too late to review it. A restart takes it up again.",
    });
    expect(await shop.order(request.orderId)).toMatchObject({ review: null });

    expect((await shop.send("POST", `${path}/restart`, {})).status).toBe(202);
    await shop.until(request.orderId, ({ steps }) => steps?.at(-1)?.name === "wait for review");
    expect((await shop.send("POST", `${path}/review`, approval)).status).toBe(202);
    await shop.until(request.orderId, ({ state }) => state === "complete");
    expect(await shop.evidence(request.orderId)).toEqual(delivered);
  });

  test("terminate answers although the refund takes for ever, and everything else waits until it has ended", async () => {
    const { request, path } = await shop.place({ "payments.refund": ["hang"] });
    await shop.until(request.orderId, inReview);
    expect((await shop.send("POST", `${path}/terminate`)).status).toBe(202);
    expect(await shop.order(request.orderId)).toMatchObject({
      state: "cancelling",
      instance: { status: "running" },
    });
    for (const command of ["restart", "review", "pause", "resume"]) {
      const body = { restart: {}, review: approval }[command];
      const { status } = await shop.send("POST", `${path}/${command}`, body);
      expect({ command, status }).toEqual({ command, status: 409 });
    }
    // Once more is no harm, and the local engine then leaves the call that hangs.
    expect((await shop.send("POST", `${path}/terminate`)).status).toBe(202);
    await shop.until(request.orderId, ({ state }) => state === "cancelled");
    expect(await shop.evidence(request.orderId)).toEqual(givenBack);
  });

  test("an order terminated a moment after a restart, which has forgotten its steps, is given back all the same", async () => {
    const { request, path } = await shop.place({ "stock.reserve": ["ok", "hang"] });
    await shop.until(request.orderId, inReview);
    expect((await shop.send("POST", `${path}/restart`, {})).status).toBe(202);
    await shop.until(request.orderId, ({ steps }) => steps?.at(-1)?.name === "reserve stock");
    expect((await shop.send("POST", `${path}/terminate`)).status).toBe(202);
    await shop.until(request.orderId, ({ state }) => state === "cancelled");
    expect(await shop.evidence(request.orderId)).toEqual(givenBack);
  });

  test("what the platform refuses is no 500", async () => {
    const { request, path } = await shop.place();
    await shop.until(request.orderId, inReview);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, nth) =>
        shop.send("POST", `${path}/${nth % 2 ? "terminate" : "restart"}`, nth % 2 ? undefined : {}),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status !== 202 && status !== 409)).toEqual([]);
    expect(statuses).toContain(202);
    expect(statuses).toContain(409);
  });
});
