/** A crash at every point of the Workflow that a step can be cut at. The real SIGKILL is in test/node. */
import { env } from "cloudflare:workers";
import { untilOver } from "@durable-lessons/test-kit";
import { crashOnce, POINTS, repeated, revive } from "@durable-lessons/test-kit/crash";
import { afterEach, describe, expect, test, vi } from "vitest";
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
