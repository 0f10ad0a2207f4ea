/** A crash at every point of the Workflow that a step can be cut at. The real SIGKILL is in test/node. */
import { env } from "cloudflare:workers";
import { untilOver } from "@durable-lessons/test-kit";
import { crashOnce, POINTS, repeated, revive } from "@durable-lessons/test-kit/crash";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { OnboardingWorkflow } from "../../src/index.ts";
import { evidence, idOf, newUser, usersSaved } from "./helpers.ts";

const STEPS = ["save user record", "prepare welcome mail", "send welcome mail"];
afterEach(() => vi.restoreAllMocks());

describe("one account and one mail after a crash", () => {
  test.each(STEPS.flatMap((name) => POINTS.map((point) => [point, name] as const)))(
    "%s step %j",
    async (point, name) => {
      const user = newUser();
      const id = await idOf(user);
      const log = crashOnce(OnboardingWorkflow, name, point);
      const instance = await env.ONBOARDING.create({ id, params: user });
      await revive(log, instance);
      const over = await untilOver(instance);

      expect(over.status).toBe("complete");
      expect(await usersSaved(user)).toBe(1);
      expect(await evidence(id)).toEqual({ "email.sent": 1 });
      // What was finished was not run again; what was under way was.
      expect(repeated(log)).toEqual(point === "during" ? [name] : []);
    },
  );
});

test("A6: what a finished step decided is fixed; an attempt that dies on the way decides anew", async () => {
  const decided: string[] = [];
  const { run } = OnboardingWorkflow.prototype;
  onTestFinished(() => {
    OnboardingWorkflow.prototype.run = run;
  });
  // No mock: crashOnce puts its own around what is there.
  OnboardingWorkflow.prototype.run = async (_event, step) => {
    const decide = (name: string) =>
      step.do(name, async () => {
        const decision = crypto.randomUUID();
        decided.push(`${name} ${decision}`);
        return decision;
      });
    const [finished, cut] = [await decide("finished"), await decide("cut")];
    return { userId: finished, messageId: cut };
  };
  const user = newUser();
  const log = crashOnce(OnboardingWorkflow, "cut", "during");
  const instance = await env.ONBOARDING.create({ id: await idOf(user), params: user });
  await revive(log, instance);
  const { output } = await untilOver(instance);
  vi.restoreAllMocks();

  const by = (name: string) => decided.filter((line) => line.startsWith(name));
  expect([by("finished").length, by("cut").length]).toEqual([1, 2]);
  const { userId, messageId } = output as { userId: string; messageId: string };
  expect([`finished ${userId}`, `cut ${messageId}`]).toEqual([by("finished")[0], by("cut")[1]]);
});

test("A3: a finished step's result is the same after the crash, to the letter", async () => {
  const user = newUser();
  const id = await idOf(user);
  const log = crashOnce(OnboardingWorkflow, "send welcome mail", "before");
  const instance = await env.ONBOARDING.create({ id, params: user });
  await revive(log, instance);
  await untilOver(instance);
  // It holds the time at which it was prepared.
  const [before, after] = log.results.get("prepare welcome mail") ?? [];
  expect(after).toEqual(before);
  expect(before).toMatchObject({ text: expect.stringMatching(/since \d{4}-/) });
});
