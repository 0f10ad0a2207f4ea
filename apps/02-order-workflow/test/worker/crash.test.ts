/**
 * A crash at every point of the Workflow that a step can be cut at. The engine takes the error below for a lost engine:
 * nothing is recorded, no catch block runs, and an event brings the instance back (measured locally). The real SIGKILL
 * is in test/node.
 */
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import { WAKE_EVENT } from "@durable-lessons/types";
import { afterEach, describe, expect, test, vi } from "vitest";
import { OrderWorkflow } from "../../src/index.ts";
import type { OrderRequest } from "../../src/schemas.ts";
import {
  approve,
  evidence,
  idOf,
  PATIENTLY,
  rowOf,
  start,
  untilOver,
  untilState,
} from "./helpers.ts";

const STEPS = [
  "price order",
  "reserve stock",
  "charge card",
  "ask for review",
  "wait for review",
  "close review",
  "approve order",
  "grace period",
  "ship parcel",
  "send mail",
];
const POINTS = ["before", "during", "after"] as const;
type Point = (typeof POINTS)[number];
type Do = (name: string, ...rest: unknown[]) => Promise<unknown>;

afterEach(() => vi.restoreAllMocks());

/** Lets the first run die at one point, and counts the callbacks of all runs. */
function crashOnce(stepName: string, point: Point) {
  const original = OrderWorkflow.prototype.run;
  const crash = Promise.withResolvers<never>();
  crash.promise.catch(() => undefined);
  const log = { crashed: false, runs: 0, callbacks: [] as string[] };
  const never = () => new Promise<never>(() => {});
  const die = () => {
    log.crashed = true;
    crash.reject(new Error("Aborting engine: Grace period complete"));
    return never();
  };
  vi.spyOn(OrderWorkflow.prototype, "run").mockImplementation(function run(
    this: OrderWorkflow,
    event: WorkflowEvent<OrderRequest>,
    step: WorkflowStep,
  ) {
    log.runs += 1;
    const first = log.runs === 1;
    const watch =
      (call: Do): Do =>
      async (name, ...rest) => {
        if (first && log.crashed) return never();
        const here = first && name === stepName;
        if (here && point === "before") return die();
        const watched = rest.map((argument) =>
          typeof argument === "function"
            ? async (ctx: unknown) => {
                log.callbacks.push(name);
                const value = await argument(ctx);
                return here && point === "during" ? die() : value;
              }
            : argument,
        );
        const result = call(name, ...watched);
        // A sleep or a wait has no callback to die in: it dies under way.
        if (here && point === "during" && !rest.some((part) => typeof part === "function")) {
          return die();
        }
        const value = await result;
        return here && point === "after" ? die() : value;
      };
    const watched = {
      do: watch(step.do as unknown as Do),
      sleep: watch(step.sleep as unknown as Do),
      waitForEvent: watch(step.waitForEvent as unknown as Do),
    };
    const work = original.call(this, event, watched as unknown as WorkflowStep);
    return first ? Promise.race([work, crash.promise]) : work;
  });
  return log;
}

describe("one charge, one parcel and one mail after a crash", () => {
  // The engine of this pool outlives the crash, and so does its half of a wait: it would take the event of the next.
  const points = STEPS.flatMap((name) => POINTS.map((point) => [point, name] as const)).filter(
    ([point, name]) => !(point === "during" && name === "wait for review"),
  );
  test.each(points)("%s step %j", async (point, name) => {
    const log = crashOnce(name, point);
    const { order, instance } = await start();
    const afterReview =
      STEPS.indexOf(name) > 4 || (name === "wait for review" && point === "after");
    if (afterReview) await approve(instance);
    await vi.waitUntil(() => log.crashed, PATIENTLY);

    await vi.waitUntil(async () => {
      await instance.sendEvent({ type: WAKE_EVENT, payload: null });
      return log.runs > 1;
    }, PATIENTLY);
    if (!afterReview) {
      await untilState(order, "in review");
      await approve(instance);
    }

    expect(await untilOver(instance)).toMatchObject({ status: "complete" });
    expect(await evidence(idOf(order))).toEqual({
      "card.charged": 1,
      "email.sent": 1,
      "parcel.shipped": 1,
      "stock.reserved": 1,
    });
    expect(await rowOf(order)).toMatchObject({ state: "complete" });
    // What was finished was not run again; what was under way was.
    const again = log.callbacks.filter((step, index) => log.callbacks.indexOf(step) !== index);
    expect(again).toEqual(point === "during" && name !== "grace period" ? [name] : []);
  });
});

test.each(POINTS)("a declined order gives its stock back once: %s that step", async (point) => {
  const log = crashOnce("release stock", point);
  const { order, instance } = await start({ "payments.charge": ["decline"] });
  await vi.waitUntil(() => log.crashed, PATIENTLY);
  await vi.waitUntil(async () => {
    await instance.sendEvent({ type: WAKE_EVENT, payload: null });
    return log.runs > 1;
  }, PATIENTLY);

  expect(await untilOver(instance)).toMatchObject({ output: { status: "declined" } });
  expect(await evidence(idOf(order))).toEqual({
    "card.declined": 1,
    "stock.released": 1,
    "stock.reserved": 1,
  });
  expect(await rowOf(order)).toMatchObject({ state: "declined" });
});
