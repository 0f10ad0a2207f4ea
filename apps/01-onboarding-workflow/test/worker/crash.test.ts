/**
 * A crash at every point of the Workflow that a step can be cut at. The engine takes the error below for a lost engine:
 * nothing is recorded, no catch block runs, and an event brings the instance back (measured locally). The real SIGKILL
 * is in test/node.
 */
import { env, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import { WAKE_EVENT } from "@durable-lessons/types";
import { afterEach, describe, expect, test, vi } from "vitest";
import { OnboardingWorkflow } from "../../src/index.ts";
import type { OnboardingRequest } from "../../src/schemas.ts";
import { evidence, idOf, newUser, untilOver, usersSaved } from "./helpers.ts";

const STEPS = ["save user record", "prepare welcome mail", "send welcome mail"];
const POINTS = ["before", "during", "after"] as const;
type Point = (typeof POINTS)[number];
type Run = OnboardingWorkflow["run"];

afterEach(() => vi.restoreAllMocks());

/** Lets the first run die at one point. Tells when it did, what later runs executed, and with which results. */
function crashOnce(stepName: string, point: Point) {
  const original: Run = OnboardingWorkflow.prototype.run;
  const crash = Promise.withResolvers<never>();
  crash.promise.catch(() => undefined);
  const log = {
    crashed: false,
    runs: 0,
    callbacks: [] as string[],
    results: new Map<string, unknown[]>(),
  };
  const die = () => {
    log.crashed = true;
    crash.reject(new Error("Aborting engine: Grace period complete"));
    return new Promise<never>(() => {});
  };
  vi.spyOn(OnboardingWorkflow.prototype, "run").mockImplementation(function run(
    this: OnboardingWorkflow,
    event: WorkflowEvent<OnboardingRequest>,
    step: WorkflowStep,
  ) {
    log.runs += 1;
    const first = log.runs === 1;
    const watched = {
      async do(name: string, callback: () => Promise<unknown>) {
        const here = first && name === stepName;
        if (first && log.crashed) return new Promise<never>(() => {});
        if (here && point === "before") return die();
        const result = await (
          step.do as (n: string, c: () => Promise<unknown>) => Promise<unknown>
        )(name, async () => {
          log.callbacks.push(name);
          const value = await callback();
          return here && point === "during" ? die() : value;
        });
        log.results.set(name, [...(log.results.get(name) ?? []), result]);
        return here && point === "after" ? die() : result;
      },
    };
    const work = original.call(this, event, watched as unknown as WorkflowStep);
    return first ? Promise.race([work, crash.promise]) : work;
  });
  return log;
}

/** Sends the event that makes the local engine load the instance again, until it has. */
async function wake(instance: WorkflowInstance, log: { runs: number }): Promise<void> {
  await vi.waitUntil(
    async () => {
      await instance.sendEvent({ type: WAKE_EVENT, payload: null });
      return log.runs > 1;
    },
    { timeout: 20_000, interval: 200 },
  );
}

describe("one account and one mail after a crash", () => {
  test.each(STEPS.flatMap((name) => POINTS.map((point) => [point, name] as const)))(
    "%s step %j",
    async (point, name) => {
      const user = newUser();
      const id = await idOf(user);
      const log = crashOnce(name, point);
      const instance = await env.ONBOARDING.create({ id, params: user });
      await vi.waitUntil(() => log.crashed, { timeout: 20_000 });

      await wake(instance, log);
      const over = await untilOver(instance);

      expect(over.status).toBe("complete");
      expect(await usersSaved(user)).toBe(1);
      expect(await evidence(id)).toEqual({ "email.sent": 1 });
      // What was finished was not run again; what was under way was.
      const twice = log.callbacks.filter((step, index) => log.callbacks.indexOf(step) !== index);
      expect(twice).toEqual(point === "during" ? [name] : []);
    },
  );
});

test("A3: a finished step's result is the same after the crash, to the letter", async () => {
  const user = newUser();
  const id = await idOf(user);
  const log = crashOnce("send welcome mail", "before");
  const instance = await env.ONBOARDING.create({ id, params: user });
  await vi.waitUntil(() => log.crashed, { timeout: 20_000 });
  await wake(instance, log);
  await untilOver(instance);
  // It holds the time at which it was prepared.
  const [before, after] = log.results.get("prepare welcome mail") ?? [];
  expect(after).toEqual(before);
  expect(before).toMatchObject({ text: expect.stringMatching(/since \d{4}-/) });
});
