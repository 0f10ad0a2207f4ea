/**
 * A crash at every kind of step, before, during and after it. The engine takes the error below for a lost engine: nothing
 * is recorded, no catch block runs, and an event brings the instance back (measured locally). The real SIGKILL is in
 * test/node.
 */
import { WAKE_EVENT } from "@durable-lessons/types";
import { env, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import { afterEach, describe, expect, test, vi } from "vitest";
import { EtlWorkflow } from "../../src/index.ts";
import { startRun } from "../../src/start-run.ts";
import {
  contentsOf,
  csv,
  deliver,
  instanceOf,
  newDay,
  PATIENTLY,
  reportOf,
  row,
} from "./helpers.ts";

const STEPS = [
  "list files, page 1",
  "transform a.csv",
  "transform b.csv",
  "clear what is stale",
  "load a.csv",
  "load b.csv",
  "write report",
];
const POINTS = ["before", "during", "after"] as const;
type Point = (typeof POINTS)[number];
type Do = (name: string, config: unknown, callback: () => Promise<unknown>) => Promise<unknown>;

afterEach(() => vi.restoreAllMocks());

/** Lets the first run die at one point, and counts the callbacks of all runs. */
function crashOnce(stepName: string, point: Point) {
  const original = EtlWorkflow.prototype.run;
  const crash = Promise.withResolvers<never>();
  crash.promise.catch(() => undefined);
  const log = { crashed: false, runs: 0, callbacks: [] as string[] };
  const never = () => new Promise<never>(() => {});
  const die = () => {
    log.crashed = true;
    crash.reject(new Error("Aborting engine: Grace period complete"));
    return never();
  };
  vi.spyOn(EtlWorkflow.prototype, "run").mockImplementation(function run(
    this: EtlWorkflow,
    event: WorkflowEvent<{ day: string }>,
    step: WorkflowStep,
  ) {
    log.runs += 1;
    const first = log.runs === 1;
    const call = step.do as unknown as Do;
    const watched: Do = async (name, config, callback) => {
      if (first && log.crashed) return never();
      const here = first && name === stepName;
      if (here && point === "before") return die();
      const value = await call(name, config, async () => {
        log.callbacks.push(name);
        const result = await callback();
        return here && point === "during" ? die() : result;
      });
      return here && point === "after" ? die() : value;
    };
    const work = original.call(this, event, { do: watched } as unknown as WorkflowStep);
    return first ? Promise.race([work, crash.promise]) : work;
  });
  return log;
}

describe("every row once after a crash", () => {
  const points = STEPS.flatMap((name) => POINTS.map((point) => [point, name] as const));
  test.each(points)("%s step %j", async (point, name) => {
    const log = crashOnce(name, point);
    const day = newDay();
    await deliver(day, {
      "a.csv": csv(row(day, "s-1"), row(day, "s-2"), row(day, "s-3", "x")),
      "b.csv": csv(row(day, "s-4"), row(day, "s-2")),
    });
    await startRun(env, day);
    const instance = await instanceOf(day);
    await vi.waitUntil(() => log.crashed, PATIENTLY);
    await vi.waitUntil(async () => {
      await instance.sendEvent({ type: WAKE_EVENT, payload: null });
      return log.runs > 1;
    }, PATIENTLY);

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
    const again = log.callbacks.filter((step, index) => log.callbacks.indexOf(step) !== index);
    expect(again).toEqual(point === "during" ? [name] : []);
    expect(new Set(log.callbacks)).toEqual(new Set(STEPS));
  });
});
