import { describe, expect, test } from "vitest";
import {
  approval,
  clientOf,
  delivered,
  givenBack,
  idOf,
  inReview,
  isOver,
  lessonOfFile,
  newOrder,
  TOKEN,
} from "./helpers.ts";

const { runtime, shop } = lessonOfFile();

const orders = async () => {
  const { DB } = await shop.bindings();
  return (await DB.prepare("SELECT COUNT(*) AS n FROM orders").first<{ n: number }>())?.n;
};

describe("POST /orders", () => {
  test("starts an order once, however often it is asked for", async () => {
    const { request, path, answer } = await shop.place();
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      status: "started",
      orderId: request.orderId,
      instanceId: idOf(request.orderId),
      state: "received",
    });
    expect(answer.headers.get("location")).toBe(path);
    const again = await shop.send("POST", "/orders", request);
    expect(again.status).toBe(200);
    expect(again.body).toEqual({
      ...answer.body,
      status: "already-started",
      state: expect.any(String),
    });
  });

  test("of ten requests at once one starts the order", async () => {
    const request = newOrder();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => shop.send("POST", "/orders", request)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.toSorted((a, b) => b - a)).toEqual([202, ...Array(9).fill(200)]);
    await shop.until(request.orderId, inReview);
    expect(await shop.evidence(request.orderId)).toEqual({
      "card.charged": 1,
      "stock.reserved": 1,
    });
  });

  test("another order under a known id is a conflict", async () => {
    const { request } = await shop.place();
    const other = { ...request, lines: [{ sku: "cup", quantity: 1 }] };
    const { status, body } = await shop.send("POST", "/orders", other);
    expect(status).toBe(409);
    expect(body.error).toContain("Choose a new id");
  });

  const line = { sku: "tea", quantity: 1 };
  const many = Array.from({ length: 10_000 }, (_, nth) => ({ sku: `s${nth}`, quantity: 1 }));
  test.each([
    ["no lines", { lines: [] }, 400, "lines must not be empty"],
    ["a negative quantity", { lines: [{ ...line, quantity: -1 }] }, 400, "at least 1"],
    ["a fractional quantity", { lines: [{ ...line, quantity: 1.5 }] }, 400, "whole number"],
    ["a quantity in text", { lines: [{ ...line, quantity: "1" }] }, 400, "must be a number"],
    ["101 lines", { lines: many.slice(0, 101) }, 400, "at most 100"],
    ["10,000 lines", { lines: many }, 413, "larger than"],
    [
      "an unknown sku",
      { lines: [{ ...line, sku: "coffee" }] },
      400,
      "There is no product with the sku coffee",
    ],
    ["the same sku twice", { lines: [line, line] }, 400, "each sku once"],
    ["an id with odd characters", { orderId: "o/1?ä" }, 400, "letters, digits"],
    ["an empty id", { orderId: "" }, 400, "1 to 64"],
    ["no id", { orderId: undefined }, 400, "orderId is missing"],
    ["an unknown field", { discount: 100 }, 400, "discount is not a known field"],
    ["200 KB", { email: `${"a".repeat(200_000)}@example.com` }, 413, "larger than"],
  ])("%s is refused and starts nothing", async (_name, fields, status, error) => {
    const before = await orders();
    const answer = await shop.send("POST", "/orders", { ...newOrder(), ...fields });
    expect(answer.status).toBe(status);
    expect(answer.body.error).toContain(error);
    expect(await orders()).toBe(before);
  });

  test.each([
    ["text that is no JSON", "{", 400],
    ["a list", [], 400],
    ["null", "null", 400],
  ])("%s is refused", async (_name, body, status) => {
    expect((await shop.send("POST", "/orders", body)).status).toBe(status);
  });

  test("a body that does not say it is JSON is refused", async () => {
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect((await shop.send("POST", "/orders", "a=b", form)).status).toBe(415);
  });
});

describe("GET /orders/:id", () => {
  test("an order that nobody placed is 404", async () => {
    const { status, body } = await shop.send("GET", "/orders/o-404");
    expect(status).toBe(404);
    expect(body.error).toContain("o-404");
  });

  test("shows the steps so far of an order that is not over, and answers", async () => {
    const { request } = await shop.place();
    await shop.until(request.orderId, inReview);
    const { state, steps } = await shop.order(request.orderId);
    expect(state).toBe("in review");
    expect(steps?.map(({ name, kind, state: at }) => `${kind} ${name}: ${at}`)).toEqual([
      "do reserve stock: complete",
      "do charge card: complete",
      "do ask for review: complete",
      "wait wait for review: running",
    ]);
  });

  test("shows attempts, delays and the provider's own words", async () => {
    const { request, path } = await shop.place({
      "payments.charge": [
        { code: "rate_limited", message: "too many requests", retryAfterSeconds: 1 },
      ],
      "carrier.ship": { always: { code: "address_unknown", message: "there is no such street" } },
    });
    await shop.until(request.orderId, inReview);
    await shop.send("POST", `${path}/review`, approval);
    const order = await shop.until(request.orderId, isOver);
    const charge = order.steps?.find(({ name }) => name === "charge card");
    expect(charge?.attempts).toHaveLength(2);
    expect(charge?.attempts[0]).toMatchObject({
      retryDelayMs: 1000,
      error: { message: expect.stringContaining("rate_limited: too many requests") },
    });
    expect(order).toMatchObject({
      state: "cancelled",
      reason: expect.stringContaining("address_unknown: there is no such street"),
    });
    const ship = order.steps?.find(({ name }) => name === "ship parcel");
    expect(ship?.attempts[0]?.error?.message).toContain("there is no such street");
  });

  test("outlives the instance", async () => {
    const { request } = await shop.place({ "payments.charge": ["decline"] });
    await shop.until(request.orderId, isOver);
    const { ORDERS } = await shop.bindings();
    await (await ORDERS.get(idOf(request.orderId))).delete();
    expect(await shop.order(request.orderId)).toMatchObject({
      state: "declined",
      instance: null,
      steps: [],
    });
    expect((await shop.send("POST", "/orders", request)).status).toBe(200);
    expect((await shop.order(request.orderId)).instance).toBeNull();
  });
});

describe("POST /orders/:id/review", () => {
  test.each([
    ["no token", null],
    ["a wrong token", "wrong"],
    ["a token that is longer", `${TOKEN}-and-more`],
    ["an empty token", ""],
  ])("with %s is 401 and changes nothing", async (_name, token) => {
    const { request, path } = await shop.place();
    await shop.until(request.orderId, inReview);
    const stranger = clientOf(runtime, token);
    const { status, headers } = await stranger.send("POST", `${path}/review`, approval);
    expect(status).toBe(401);
    expect(headers.get("www-authenticate")).toBe("Bearer");
    expect(await shop.order(request.orderId)).toMatchObject({ state: "in review", review: null });
  });

  test("of an unknown order is 404, and 401 for whoever has no token", async () => {
    expect((await shop.send("POST", "/orders/o-404/review", approval)).status).toBe(404);
    const stranger = clientOf(runtime, null);
    expect((await stranger.send("POST", "/orders/o-404/review", approval)).status).toBe(401);
  });

  test("before the order waits for it is 409", async () => {
    const { path } = await shop.place({ "stock.reserve": ["hang"] });
    expect((await shop.send("POST", `${path}/review`, approval)).status).toBe(409);
  });

  test("is accepted once, also of two at once, and the first one counts", async () => {
    const { request, path } = await shop.place();
    await shop.until(request.orderId, inReview);
    const refusal = { approved: false, reviewer: "eve" };
    const answers = await Promise.all(
      [approval, approval, refusal].map((review) => shop.send("POST", `${path}/review`, review)),
    );
    const accepted = answers.findIndex(({ status }) => status === 202);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 409, 409]);
    const { review, state } = await shop.until(request.orderId, isOver);
    expect(review).toEqual(accepted === 2 ? refusal : approval);
    expect(state).toBe(accepted === 2 ? "cancelled" : "complete");
    expect((await shop.send("POST", `${path}/review`, approval)).status).toBe(409);
  });

  test.each([
    ["nothing", {}],
    ["approved in text", { approved: "yes", reviewer: "bob" }],
    ["no reviewer", { approved: true }],
    ["an unknown field", { ...approval, comment: "" }],
  ])("with a body that is no review (%s) is 400", async (_name, body) => {
    const { request, path } = await shop.place();
    await shop.until(request.orderId, inReview);
    expect((await shop.send("POST", `${path}/review`, body)).status).toBe(400);
    expect(await shop.order(request.orderId)).toMatchObject({ state: "in review", review: null });
  });
});

describe("pause, resume, terminate", () => {
  test("a paused order keeps its review until it is resumed", async () => {
    const { request, path } = await shop.place();
    await shop.until(request.orderId, ({ steps }) => steps?.at(-1)?.name === "wait for review");
    expect((await shop.send("POST", `${path}/resume`)).status).toBe(409);
    expect((await shop.send("POST", `${path}/pause`)).status).toBe(202);
    await shop.until(request.orderId, ({ instance }) => instance?.status === "paused");
    expect((await shop.send("POST", `${path}/pause`)).status).toBe(409);
    expect((await shop.send("POST", `${path}/review`, approval)).status).toBe(202);
    // Nothing has looked at it yet, and it is the first one all the same.
    const refusal = { approved: false, reviewer: "eve" };
    for (const second of [approval, refusal]) {
      expect((await shop.send("POST", `${path}/review`, second)).status).toBe(409);
    }
    expect((await shop.send("POST", `${path}/resume`)).status).toBe(202);
    await shop.until(request.orderId, ({ state }) => state === "complete");
    expect(await shop.evidence(request.orderId)).toEqual(delivered);
  });

  test("a terminated order is given back, and is over", async () => {
    const { request, path } = await shop.place();
    await shop.until(request.orderId, inReview);
    expect((await shop.send("POST", `${path}/terminate`)).status).toBe(202);
    const { state } = await shop.until(request.orderId, isOver);
    expect(state).toBe("cancelled");
    expect(await shop.evidence(request.orderId)).toEqual(givenBack);
    for (const action of ["terminate", "pause", "resume"]) {
      expect((await shop.send("POST", `${path}/${action}`)).status).toBe(409);
    }
    expect((await shop.send("POST", `${path}/restart`, {})).status).toBe(409);
  });

  test("once the parcel has left, terminate is 409", async () => {
    const { request, path } = await shop.place({ "mail.send": ["hang"] });
    await shop.until(request.orderId, inReview);
    await shop.send("POST", `${path}/review`, approval);
    await shop.until(request.orderId, ({ state }) => state === "shipped");
    const { status, body } = await shop.send("POST", `${path}/terminate`);
    expect(status).toBe(409);
    expect(body.error).toContain("has left");
  });

  test.each(["pause", "resume", "terminate", "restart"])(
    "%s without a token is 401",
    async (action) => {
      const { path } = await shop.place();
      const stranger = clientOf(runtime, "wrong");
      expect((await stranger.send("POST", `${path}/${action}`, {})).status).toBe(401);
      expect((await shop.send("GET", `${path}/${action}`)).status).toBe(405);
    },
  );
});

describe("POST /orders/:id/restart", () => {
  test("goes on from the failed step once the provider is repaired", async () => {
    const { request, path } = await shop.place();
    await shop.until(request.orderId, inReview);
    expect((await shop.send("PUT", `${path}/outage`, { down: ["mail.send"] })).status).toBe(202);
    await shop.send("POST", `${path}/review`, approval);
    const failed = await shop.until(request.orderId, isOver);
    expect(failed).toMatchObject({ state: "shipped", instance: { status: "errored" } });
    expect(failed.instance?.error?.message).toContain("mail.send: unavailable");

    const unknown = await shop.send("POST", `${path}/restart`, { from: "send telegram" });
    expect(unknown.status).toBe(409);
    expect(unknown.body.error).toContain("send telegram");
    expect(
      (await shop.send("POST", `${path}/restart`, "from=x", { "content-type": "text/plain" }))
        .status,
    ).toBe(415);

    await shop.send("PUT", `${path}/outage`, { down: [] });
    expect((await shop.send("POST", `${path}/restart`, { from: "send mail" })).status).toBe(202);
    await shop.until(request.orderId, ({ state }) => state === "complete");
    expect(await shop.evidence(request.orderId)).toEqual(delivered);
  });

  test("without a step does everything again, and nothing twice", async () => {
    const { request, path } = await shop.place({ "mail.send": Array(6).fill("fail") });
    await shop.until(request.orderId, inReview);
    await shop.send("POST", `${path}/review`, approval);
    await shop.until(request.orderId, isOver);
    expect((await shop.send("POST", `${path}/restart`, {})).status).toBe(202);
    await shop.until(request.orderId, ({ state }) => state === "complete");
    expect(await shop.evidence(request.orderId)).toEqual(delivered);
  });

  test("an order whose undo failed is finished by a restart without a step", async () => {
    const { request, path } = await shop.place({
      "carrier.ship": { always: "fail" },
      "stock.release": Array(9).fill("fail"),
    });
    await shop.until(request.orderId, inReview);
    await shop.send("POST", `${path}/review`, approval);
    const stuck = await shop.until(request.orderId, isOver);
    expect(stuck.state).toBe("cancelling");
    expect((await shop.send("POST", `${path}/restart`, { from: "ship parcel" })).status).toBe(409);
    expect((await shop.send("POST", `${path}/restart`, {})).status).toBe(202);
    await shop.until(request.orderId, ({ state }) => state === "cancelled");
    expect(await shop.evidence(request.orderId)).toEqual({ ...givenBack, "parcel.recalled": 1 });
  });
});

test("what is not there is 404, a wrong method 405, both as JSON", async () => {
  expect((await shop.send("GET", "/nothing")).body.error).toContain("/nothing");
  expect((await shop.send("DELETE", "/orders")).headers.get("allow")).toBe("POST");
});
