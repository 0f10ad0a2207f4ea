import * as v from "valibot";
import { describe, expect, test } from "vitest";
import {
  MAX_ORDER_LINES,
  MAX_QUANTITY,
  orderRequest,
  orderRestart,
  orderReview,
} from "../../src/schemas.ts";

const order = {
  orderId: "o-1",
  email: "ada@example.com",
  card: "tok_visa",
  lines: [{ sku: "tea", quantity: 1 }],
};
const messages = (schema: v.GenericSchema, value: unknown) =>
  v.safeParse(schema, value).issues?.map(({ message }) => message) ?? [];
const lines = (count: number) =>
  Array.from({ length: count }, (_, nth) => ({ sku: `s${nth}`, quantity: MAX_QUANTITY }));

describe("orderRequest", () => {
  test("takes an order, the longest too", () => {
    expect(v.parse(orderRequest, order)).toEqual(order);
    const long = { ...order, orderId: "o".repeat(64), lines: lines(MAX_ORDER_LINES) };
    expect(messages(orderRequest, long)).toEqual([]);
  });

  test.each([
    [{ orderId: "" }, "orderId must be 1 to 64"],
    [{ orderId: "o".repeat(65) }, "orderId must be 1 to 64"],
    [{ orderId: "o/1" }, "orderId must be 1 to 64"],
    [{ orderId: "-1" }, "start with a letter or digit"],
    [{ orderId: 1 }, "orderId must be text"],
    [{ email: "ada" }, "email must be an email address"],
    [{ card: "4242 4242" }, "card must be a token"],
    [{ lines: [] }, "lines must not be empty"],
    [{ lines: "tea" }, "lines must be a list"],
    [{ lines: lines(MAX_ORDER_LINES + 1) }, `at most ${MAX_ORDER_LINES}`],
    [{ lines: [...order.lines, ...order.lines] }, "each sku once"],
    [{ lines: [{ sku: "tea", quantity: 0 }] }, "at least 1"],
    [{ lines: [{ sku: "tea", quantity: MAX_QUANTITY + 1 }] }, `at most ${MAX_QUANTITY}`],
    [{ lines: [{ sku: "tea", quantity: 1.5 }] }, "whole number"],
    [{ lines: [{ sku: "tea", quantity: Number.NaN }] }, "quantity must be a number"],
    [{ lines: [{ sku: " ", quantity: 1 }] }, "sku must not be empty"],
    [{ lines: [{ quantity: 1 }] }, "sku is missing"],
    [{ discount: 1 }, "discount is not a known field"],
  ])("refuses %j", (fields, message) => {
    expect(messages(orderRequest, { ...order, ...fields }).join("; ")).toContain(message);
  });
});

test.each([
  [{ approved: true, reviewer: "bob" }, ""],
  [{ approved: 1, reviewer: "bob" }, "approved must be true or false"],
  [{ reviewer: "bob" }, "approved is missing"],
  [{ approved: false }, "reviewer is missing"],
])("orderReview: %j", (review, message) => {
  expect(messages(orderReview, review).join("; ")).toBe(message);
});

test.each([
  [{}, ""],
  [{ from: "send mail" }, ""],
  [{ from: "" }, "from must not be empty"],
  [{ step: "send mail" }, "step is not a known field"],
])("orderRestart: %j", (restart, message) => {
  expect(messages(orderRestart, restart).join("; ")).toBe(message);
});
