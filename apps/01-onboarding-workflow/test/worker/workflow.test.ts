import { introspectWorkflow, introspectWorkflowInstance } from "cloudflare:test";
import { callsOf, effectsOf, keptOf, scriptFaults } from "@durable-lessons/outside-world";
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

test("A11: locally, of creates at the very same moment none is refused, and one runs", async () => {
  const user = newUser();
  const id = await idOf(user);
  const answers = await Promise.allSettled(
    Array.from({ length: 5 }, () => env.ONBOARDING.create({ id, params: user })),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(5).fill("fulfilled"));
  await untilOver(await env.ONBOARDING.get(id));
  // Each run would call the provider, whose key hides from the count of mails that it did.
  expect(await callsOf(env.WORLD, id)).toHaveLength(1);
});

test("A11: an instance that is no longer retained protects nobody: its id starts a second run", async () => {
  const user = newUser();
  const id = await idOf(user);
  const run = vi.spyOn(OnboardingWorkflow.prototype, "run");
  // The provider refuses the second mail, another text under a key that it knows: its retries need not wait.
  await using instances = await introspectWorkflow(env.ONBOARDING);
  await instances.modifyAll((modifier) => modifier.disableRetryDelays());
  const first = await env.ONBOARDING.create({ id, params: user });
  await untilOver(first);
  await first.delete();
  await untilOver(await env.ONBOARDING.create({ id, params: user }));
  expect(run.mock.calls.filter(([event]) => event.instanceId === id)).toHaveLength(2);
  run.mockRestore();
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
  expect(sent?.detail).toEqual(await keptOf(id, { to: user.email, ...Object(welcome) }));
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
