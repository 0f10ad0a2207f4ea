import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readSale } from "../../src/sale.ts";

const DAY = "2026-11-28";
const good = ["s-1", `${DAY}T09:30:00Z`, "Berlin", "EUR", "12.99"];
const withField = (at: number, value: string) => readSale(good.with(at, value), DAY);
const minorOf = (currency: string, amount: string) => {
  const sale = readSale(good.with(3, currency).with(4, amount), DAY);
  return typeof sale === "string" ? sale : sale.minor;
};

test("a row in order is a sale", () => {
  expect(readSale(good, DAY)).toEqual({
    id: "s-1",
    at: `${DAY}T09:30:00Z`,
    shop: "Berlin",
    currency: "EUR",
    minor: 1299,
  });
});

describe("an amount", () => {
  test.each([
    ["EUR", "12.99", 1299],
    ["EUR", "12.9", 1290],
    ["EUR", "12", 1200],
    ["EUR", "-0.01", -1],
    ["EUR", "-0", 0],
    ["EUR", "0.07", 7],
    ["EUR", "1000000", 100_000_000],
    ["JPY", "1299", 1299],
    ["KWD", "1.234", 1234],
  ])("of %s %s is %d", (currency, amount, minor) => {
    expect(minorOf(currency, amount)).toBe(minor);
  });

  test.each([
    ["EUR", ""],
    ["EUR", "12.999"],
    ["EUR", "12,99"],
    ["EUR", "1e3"],
    ["EUR", "0x10"],
    ["EUR", " 1"],
    ["EUR", "1."],
    ["EUR", ".5"],
    ["EUR", "+1"],
    ["EUR", "NaN"],
    ["EUR", "٣"],
    ["EUR", "1000000.01"],
    ["EUR", "-1000000.01"],
    ["EUR", "9".repeat(300)],
    ["JPY", "1.5"],
    ["KWD", "1.2345"],
  ])("of %s %j is none", (currency, amount) => {
    expect(minorOf(currency, amount)).toMatch(/^amount must be/);
  });

  test("is the same whole number that it was written from", () => {
    const whole = fc.integer({ min: -100_000_000, max: 100_000_000 });
    fc.assert(
      fc.property(whole, (minor) => {
        const text = `${Math.abs(minor)}`.padStart(3, "0");
        const amount = `${minor < 0 ? "-" : ""}${text.slice(0, -2)}.${text.slice(-2)}`;
        expect(minorOf("USD", amount)).toBe(minor);
      }),
    );
  });
});

test.each([
  [0, "", "sale_id"],
  [0, "a b", "sale_id"],
  [0, "x".repeat(65), "sale_id"],
  [1, "2026-11-28", "sold_at"],
  [1, "2026-11-28T24:00:00Z", "sold_at"],
  [1, "2026-11-28T09:30:00+01:00", "sold_at"],
  [1, "2026-02-30T09:30:00Z", "sold_at"],
  [1, "2026-11-27T23:59:59Z", "the file's day"],
  [2, "", "shop"],
  [2, " \n", "shop"],
  [2, "x".repeat(101), "shop"],
  [2, "a\0b", "shop"],
  [2, "caf\uFFFD", "UTF-8"],
  [3, "", "currency"],
  [3, "eur", "currency"],
  [3, "constructor", "currency"],
  [3, "__proto__", "currency"],
])("field %d as %j is refused, with the reason", (at, value, reason) => {
  expect(withField(at, value)).toContain(reason);
});

test.each([[[]], [good.slice(1)], [[...good, ""]]])("%j has the wrong number of columns", (row) => {
  expect(readSale(row, DAY)).toBe("there must be 5 columns");
});

test("any fields are a sale or a reason, and a sale has what was given", () => {
  const anything = fc.string({ unit: "binary" });
  const fields = fc.tuple(...good.map((value) => fc.oneof(fc.constant(value), anything)));
  fc.assert(
    fc.property(fields, (row) => {
      const sale = readSale(row, DAY);
      if (typeof sale === "string") return;
      expect([sale.id, sale.at, sale.shop, sale.currency]).toEqual(row.slice(0, 4));
      expect(Number.isSafeInteger(sale.minor)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
