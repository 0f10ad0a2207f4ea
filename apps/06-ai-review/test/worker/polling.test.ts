/** What polling and waiting cost, counted in what the platform bills as a step: steps, sleeps and waits. */
import { outsideWorld } from "@durable-lessons/outside-world";
import { untilOver } from "@durable-lessons/test-kit";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { DraftWorkflow } from "../../src/index.ts";
import { run as waiting } from "../../src/pitfalls/polling-for-the-answer/fix.ts";
import { run as polling } from "../../src/pitfalls/polling-for-the-answer/pitfall.ts";
import { draftInReview, idOf } from "./helpers.ts";

afterEach(() => vi.restoreAllMocks());

const BEGINNINGS: WorkflowInstanceEventType[] = ["step_started", "sleep_started", "wait_started"];

test.each([
  ["polling once an hour", polling, { step_started: 25, sleep_started: 24 }, 49],
  ["waiting", waiting, { step_started: 1, wait_started: 1 }, 2],
])("E4: %s for a day", async (_name, run, expected, billed) => {
  const draft = await draftInReview("Nobody answers");
  vi.spyOn(DraftWorkflow.prototype, "run").mockImplementation(async (event, step) => {
    await run(event, step, { ...env, ...outsideWorld(env, idOf(draft)) });
    return { status: "closed" };
  });
  const instance = await env.DRAFTS.create({ id: idOf(draft), params: draft });
  expect((await untilOver(instance)).status).toBe("complete");

  const begun: Record<string, number> = {};
  using events = await instance.subscribe({ filter: BEGINNINGS });
  for (;;) {
    const { value, done } = await events.next();
    if (done) break;
    begun[value.type] = (begun[value.type] ?? 0) + 1;
  }
  expect(begun).toEqual(expected);
  expect(Object.values(begun).reduce((sum, count) => sum + count, 0)).toBe(billed);
});
