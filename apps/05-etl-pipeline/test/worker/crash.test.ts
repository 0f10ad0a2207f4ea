/** A crash at every kind of step, before, during and after it. The real SIGKILL is in test/node. */
import { crashOnce, POINTS, repeated, revive } from "@durable-lessons/test-kit/crash";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, test, vi } from "vitest";
import { EtlWorkflow } from "../../src/index.ts";
import { startRun } from "../../src/start-run.ts";
import { contentsOf, csv, deliver, instanceOf, newDay, reportOf, row } from "./helpers.ts";

const STEPS = [
  "open run",
  "list files, page 1",
  "transform a.csv",
  "transform b.csv",
  "clear what is stale",
  "load a.csv",
  "load b.csv",
  "write report",
];
afterEach(() => vi.restoreAllMocks());

describe("every row once after a crash", () => {
  const points = STEPS.flatMap((name) => POINTS.map((point) => [point, name] as const));
  test.each(points)("%s step %j", async (point, name) => {
    const log = crashOnce(EtlWorkflow, name, point);
    const day = newDay();
    await deliver(day, {
      "a.csv": csv(row(day, "s-1"), row(day, "s-2"), row(day, "s-3", "x")),
      "b.csv": csv(row(day, "s-4"), row(day, "s-2")),
    });
    await startRun(env, day);
    const instance = await instanceOf(day);
    await revive(log, instance);

    expect(await reportOf(day)).toEqual({
      day,
      files: { loaded: 2, empty: 0, skipped: 0, gone: 0 },
      rows: 3,
      rejected: 2,
      currencies: { EUR: { rows: 3, minor: 300 } },
      reasons: {
        "amount must be a number with no more digits than its currency has": 1,
        "the sale_id is taken": 1,
      },
    });
    const { sales, rejects } = await contentsOf(day);
    expect(sales).toEqual(["s-1 a.csv:2 100", "s-2 a.csv:3 100", "s-4 b.csv:2 100"]);
    expect(rejects.map(({ file, line }) => `${file}:${line}`)).toEqual(["a.csv:4", "b.csv:3"]);
    // What was finished was not run again; what was under way was.
    expect(repeated(log)).toEqual(point === "during" ? [name] : []);
    expect(new Set(log.callbacks)).toEqual(new Set(STEPS));
  });
});
