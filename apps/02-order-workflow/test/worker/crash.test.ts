/** A crash at every point of the Workflow that a step can be cut at. The real SIGKILL is in test/node. */
import { crashOnce, POINTS, repeated, revive } from "@durable-lessons/test-kit/crash";
import { untilOver } from "@durable-lessons/test-kit";
import { afterEach, describe, expect, test, vi } from "vitest";
import { OrderWorkflow } from "../../src/index.ts";
import { approve, evidence, idOf, rowOf, start, untilState } from "./helpers.ts";

const STEPS = [
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
afterEach(() => vi.restoreAllMocks());

describe("one charge, one parcel and one mail after a crash", () => {
  // The engine of this pool outlives the crash, and so does its half of a wait: it would take the event of the next.
  const points = STEPS.flatMap((name) => POINTS.map((point) => [point, name] as const)).filter(
    ([point, name]) => !(point === "during" && name === "wait for review"),
  );
  test.each(points)("%s step %j", async (point, name) => {
    const log = crashOnce(OrderWorkflow, name, point);
    const { order, instance } = await start();
    const afterReview =
      STEPS.indexOf(name) > STEPS.indexOf("wait for review") ||
      (name === "wait for review" && point === "after");
    if (afterReview) await approve(instance);
    await revive(log, instance);
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
    expect(repeated(log)).toEqual(point === "during" && name !== "grace period" ? [name] : []);
  });
});

test.each(POINTS)("a declined order gives its stock back once: %s that step", async (point) => {
  const log = crashOnce(OrderWorkflow, "release stock", point);
  const { order, instance } = await start({ "payments.charge": ["decline"] });
  await revive(log, instance);

  expect(await untilOver(instance)).toMatchObject({ output: { status: "declined" } });
  expect(await evidence(idOf(order))).toEqual({
    "card.declined": 1,
    "stock.released": 1,
    "stock.reserved": 1,
  });
  expect(await rowOf(order)).toMatchObject({ state: "declined" });
});
