import { expect, test } from "vitest";
import { measure } from "../../bench/heap.ts";

/** What a Worker has (Workers documentation, "Limits"). */
const LIMIT = 128 * 2 ** 20;

test("D8: a file of 60 MB passes through, and three quarters of a Worker's memory are enough", async () => {
  const { bytes, rows, peakBytes } = await measure("transform", 60);
  expect(rows).toBeGreaterThan(900_000);
  expect(bytes).toBeGreaterThan(60e6);
  expect(peakBytes).toBeGreaterThan(1e6);
  expect(peakBytes).toBeLessThan(0.75 * LIMIT);
}, 240_000);
