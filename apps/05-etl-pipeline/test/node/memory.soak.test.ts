import { soak } from "@durable-lessons/test-kit/soak";
import { expect, test } from "vitest";
import { measure } from "../../bench/heap.ts";

/** What a Worker has (Workers documentation, "Limits"). */
const LIMIT = 128 * 2 ** 20;

const MEGABYTES = soak(60, 20);

test(`D8: a file of ${MEGABYTES} MB passes through, and three quarters of a Worker's memory are enough`, async () => {
  const { bytes, rows, peakBytes } = await measure("transform", MEGABYTES);
  expect(rows).toBeGreaterThan(15_000 * MEGABYTES);
  expect(bytes).toBeGreaterThan(MEGABYTES * 1e6);
  expect(peakBytes).toBeGreaterThan(1e6);
  expect(peakBytes).toBeLessThan(0.75 * LIMIT);
}, 600_000);
