import { introspectWorkflowInstance } from "cloudflare:test";
import { effectsOf, scriptFaults } from "@durable-lessons/outside-world";
import { untilOver } from "@durable-lessons/test-kit";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { OnboardingWorkflow } from "../../src/index.ts";
import { evidence, idOf, newUser } from "./helpers.ts";

test("A14: params arrive as event.payload, beside the instance's id", async () => {
  const run = vi.spyOn(OnboardingWorkflow.prototype, "run");
  const user = newUser();
  const id = await idOf(user);
  await untilOver(await env.ONBOARDING.create({ id, params: user }));
  const [event] = run.mock.calls.find(([call]) => call.instanceId === id) ?? [];
  expect(event?.payload).toEqual(user);
  run.mockRestore();
});

test("A12: without an id the platform makes a UUID", async () => {
  const instance = await env.ONBOARDING.create({ params: newUser() });
  expect(instance.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  await untilOver(instance);
});

test("A11: create with an id that is taken throws instance.already_exists", async () => {
  const user = newUser();
  const id = await idOf(user);
  await untilOver(await env.ONBOARDING.create({ id, params: user }));
  await expect(env.ONBOARDING.create({ id, params: user })).rejects.toThrow(
    "(instance.already_exists)",
  );
});

test("the mail is what the step before it prepared", async () => {
  const user = newUser({ planType: "free" });
  const id = await idOf(user);
  await using instance = await introspectWorkflowInstance(env.ONBOARDING, id);
  await env.ONBOARDING.create({ id, params: user });
  const welcome = await instance.waitForStepResult({ name: "prepare welcome mail" });
  await instance.waitForStatus("complete");
  expect(welcome).toMatchObject({ subject: "Welcome" });
  const [sent] = await effectsOf(env.WORLD, id);
  expect(sent?.detail).toEqual({ to: user.email, ...Object(welcome) });
});

test("a mail provider that fails at first is asked again, and one mail goes out", async () => {
  const user = newUser();
  const id = await idOf(user);
  await scriptFaults(env.WORLD, id, { "mail.send": ["fail", "fail-after-effect"] });
  await using instance = await introspectWorkflowInstance(env.ONBOARDING, id);
  await instance.modify((modifier) => modifier.disableRetryDelays());
  await env.ONBOARDING.create({ id, params: user });
  await instance.waitForStatus("complete");
  expect(await evidence(id)).toEqual({ "email.sent": 1 });
});
