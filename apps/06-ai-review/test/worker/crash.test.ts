/**
 * A crash at every point of the Workflow that a step can be cut at. The engine takes the error below for a lost engine:
 * nothing is recorded, no catch block runs, and an event brings the instance back (measured locally). The real SIGKILL
 * is in test/node.
 */
import { introspectWorkflowInstance } from "cloudflare:test";
import { env, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import { WAKE_EVENT } from "@durable-lessons/types";
import { afterEach, describe, expect, test, vi } from "vitest";
import { DraftWorkflow } from "../../src/index.ts";
import type { DraftRequest } from "../../src/schemas.ts";
import {
  decide,
  evidence,
  idOf,
  mailedLink,
  newDraft,
  PATIENTLY,
  PUBLISHED,
  rowOf,
  send,
  start,
  untilOver,
} from "./helpers.ts";

const ANSWERED = [
  "generate draft",
  "store draft",
  "mail reviewer",
  "wait for review",
  "close review",
  "publish article",
];
const SILENT = [
  "generate draft",
  "store draft",
  "mail reviewer",
  "wait for review",
  "remind reviewer",
  "wait once more",
  "close review",
];
const POINTS = ["before", "during", "after"] as const;
type Point = (typeof POINTS)[number];
type Do = (name: string, ...rest: unknown[]) => Promise<unknown>;

afterEach(() => vi.restoreAllMocks());

/** Lets the first run die at one point, and counts the callbacks of all runs. */
function crashOnce(stepName: string, point: Point) {
  const original = DraftWorkflow.prototype.run;
  const crash = Promise.withResolvers<never>();
  crash.promise.catch(() => undefined);
  const log = { crashed: false, runs: 0, callbacks: [] as string[] };
  const never = () => new Promise<never>(() => {});
  const die = () => {
    log.crashed = true;
    crash.reject(new Error("Aborting engine: Grace period complete"));
    return never();
  };
  vi.spyOn(DraftWorkflow.prototype, "run").mockImplementation(function run(
    this: DraftWorkflow,
    event: WorkflowEvent<DraftRequest>,
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
        try {
          return await call(name, ...watched);
        } finally {
          if (here && point === "after") await die();
        }
      };
    const watched = {
      do: watch(step.do as unknown as Do),
      waitForEvent: watch(step.waitForEvent as unknown as Do),
    };
    const work = original.call(this, event, watched as unknown as WorkflowStep);
    return first ? Promise.race([work, crash.promise]) : work;
  });
  return log;
}

/** Brings the instance back, once it is lost. */
async function revive(log: ReturnType<typeof crashOnce>, instance: WorkflowInstance) {
  await vi.waitUntil(() => log.crashed, PATIENTLY);
  await vi.waitUntil(async () => {
    await instance.sendEvent({ type: WAKE_EVENT, payload: null });
    return log.runs > 1;
  }, PATIENTLY);
}

const approve = async (draft: DraftRequest) =>
  expect((await decide(await mailedLink(draft), "approve")).status).toBe(200);

/** What was finished was not run again; what was under way was. */
const expectRepeated = (log: ReturnType<typeof crashOnce>, names: string[]) =>
  expect(log.callbacks.filter((step, nth) => log.callbacks.indexOf(step) !== nth)).toEqual(names);

const pointsOf = (steps: string[]) =>
  steps
    .flatMap((name) => POINTS.map((point) => [point, name] as const))
    // A wait has no callback to die in, and the engine of this pool outlives the crash, and so does its half of a wait.
    .filter(([point, name]) => !(point === "during" && name.startsWith("wait")));

describe("one model call, one mail and one article after a crash", () => {
  test.each(pointsOf(ANSWERED))("%s step %j", async (point, name) => {
    const log = crashOnce(name, point);
    const { draft, instance } = await start();
    const afterReview =
      ANSWERED.indexOf(name) > 3 || (name === "wait for review" && point === "after");
    if (afterReview) await approve(draft);
    await revive(log, instance);
    if (!afterReview) await approve(draft);

    const { sha256, text } = await rowOf(draft);
    expect(await untilOver(instance)).toMatchObject({ output: { status: "published", sha256 } });
    expect(await evidence(draft)).toEqual(PUBLISHED);
    expect((await send("GET", `/articles/${draft.draftId}`)).text).toBe(text);
    expectRepeated(log, point === "during" ? [name] : []);
  });
});

describe("one mail and one reminder after a crash, where nobody answers", () => {
  test.each(pointsOf(SILENT))("%s step %j", async (point, name) => {
    const draft = newDraft();
    await using introspector = await introspectWorkflowInstance(env.DRAFTS, idOf(draft));
    await introspector.modify(async (modifier) => {
      await modifier.forceEventTimeout({ name: "wait for review" });
      await modifier.forceEventTimeout({ name: "wait once more" });
    });
    const log = crashOnce(name, point);
    const { instance } = await start({}, draft);
    await revive(log, instance);
    expect(await untilOver(instance)).toMatchObject({ output: { status: "closed" } });
    expect(await evidence(draft)).toEqual({
      "email.sent": 1,
      "model.called": 1,
      "reminder.sent": 1,
    });
    expectRepeated(log, point === "during" ? [name] : []);
  });
});
