import { callsOf } from "@durable-lessons/outside-world";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { Pace } from "../../src/pace.ts";
import { deliver, evidence, newSignup } from "./helpers.ts";

const tooMany = (seconds: number) =>
  Object.assign(new Error("429"), { retryAfterSeconds: seconds });

test("nobody runs ahead of a provider that has said when to come back", async () => {
  const pace = new Pace();
  const { signal } = new AbortController();
  const begun: { who: string; at: number }[] = [];
  let isRefused = false;
  const work = (who: string) => async () => {
    begun.push({ who, at: Date.now() });
    if (isRefused) return who;
    isRefused = true;
    throw tooMany(1);
  };
  const first = pace.run(work("first"), signal);
  await scheduler.wait(0);
  const others = ["second", "third"].map((who) => pace.run(work(who), signal));
  expect(await Promise.all([first, ...others])).toEqual(["first", "second", "third"]);
  const [refused, ...rest] = begun;
  expect(rest).toHaveLength(3);
  for (const { at } of rest) expect(at - (refused?.at ?? 0)).toBeGreaterThanOrEqual(1000);
});

test("what there is no time to wait for fails with the provider's word", async () => {
  const controller = new AbortController();
  const late = new Pace().run(async () => {
    controller.abort(new Error("the batch is over"));
    throw tooMany(3600);
  }, controller.signal);
  await expect(late).rejects.toThrow("429");
});

test("another error is thrown on at once", async () => {
  const { signal } = new AbortController();
  const failing = new Pace().run(() => Promise.reject(new Error("no route")), signal);
  await expect(failing).rejects.toThrow("no route");
});

test("a signup whose mail is answered 429 is served in the same delivery", async () => {
  const busy = { code: "rate_limited", message: "Too Many Requests", retryAfterSeconds: 1 };
  const signup = await newSignup({ "mail.send": [busy] });
  const { ids, acked } = await deliver([signup]);
  expect(acked).toEqual(ids);
  expect(await evidence(signup.id)).toEqual({ "email.sent": 1 });
  expect(await callsOf(env.WORLD, signup.id)).toHaveLength(2);
});
