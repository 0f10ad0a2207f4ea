import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  ASSUMPTIONS,
  backlogOf,
  billOf,
  d1TripsOf,
  loadOf,
  tablesOf,
  usageOf,
} from "../../bench/scale.ts";
import { lesson } from "./helpers.ts";

const none = Object.fromEntries(
  Object.entries(ASSUMPTIONS).map(([name]) => [name, 0]),
) as typeof ASSUMPTIONS;

describe("bench/scale.ts", () => {
  test("a message that is delivered once is three operations, twice is four", () => {
    const million = { ...ASSUMPTIONS, "orders a day": 1e6, "days a month": 1 };
    expect(usageOf({ ...million, "deliveries of a message": 1 })["queue operations"]).toBe(3e6);
    expect(usageOf({ ...million, "deliveries of a message": 2 })["queue operations"]).toBe(4e6);
  });

  // The example of the price list: a million messages a day, $35.60.
  test("agrees with Cloudflare's own example for Queues", () => {
    const { items } = billOf({ ...ASSUMPTIONS, "deliveries of a message": 1 });
    expect(items["queue operations"]).toBeCloseTo(35.6, 5);
  });

  test("what is included costs nothing, and the rest by its price", () => {
    const small = { ...ASSUMPTIONS, "orders a day": 1000 };
    expect(billOf(small).items["Workflow steps"]).toBe(0);
    expect(billOf(small).items["D1 rows written"]).toBe(0);
    // 30 million orders of three steps, half a million included, 8 dollars a million.
    expect(billOf(ASSUMPTIONS).items["Workflow steps"]).toBeCloseTo((90 - 0.5) * 8, 5);
  });

  test("without orders there is the subscription", () => {
    const empty = { ...none, "messages in a batch, on average": 1, "orders in a request": 1 };
    expect(billOf(empty).total).toBe(5);
  });

  test("above a hundred creates a second messages wait, below none do", () => {
    expect(backlogOf({ ...ASSUMPTIONS, "peak, to the average": 1 })).toBe(0);
    const peak = (1e6 / 86_400) * 10;
    expect(backlogOf(ASSUMPTIONS)).toBeCloseTo((peak - 100) * 3600, 5);
    const creates = loadOf(ASSUMPTIONS).find(({ what }) => what.startsWith("creates"));
    expect(creates?.load).toBeGreaterThan(creates?.limit ?? Infinity);
  });
});

describe("docs/scale.md", async () => {
  const text = await readFile(join(lesson, "..", "..", "docs", "scale.md"), "utf8");

  test.each(Object.entries(tablesOf(ASSUMPTIONS)))("has the table %s as it is", (_name, table) => {
    expect(text).toContain(table);
  });

  test("has the trips to D1 as they are, in tens, and the time that is left for each", () => {
    const trips = d1TripsOf(ASSUMPTIONS);
    expect(text).toContain(`about ${Math.round(trips / 10) * 10} a second`);
    expect(text).toContain(`leaves ${(1000 / trips).toFixed(1)} ms`);
  });

  test("has the backlog as it is", () => {
    expect(text).toContain(Math.round(backlogOf(ASSUMPTIONS)).toLocaleString("en-US"));
  });
});
