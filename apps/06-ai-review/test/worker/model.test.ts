import { env } from "cloudflare:workers";
import { outsideWorld } from "@durable-lessons/outside-world";
import { expect, test, vi } from "vitest";
import { generate, STAND_IN } from "../../src/model.ts";

const standIn = () => outsideWorld({ WORLD: env.WORLD }, crypto.randomUUID()).model;

/** Stands for the binding, which has no local form: this shows what it is asked, not what it answers. */
const binding = (answer?: unknown) => {
  const run = vi.fn(() => Promise.resolve(answer));
  return { run, env: { ...env, AI: { run } as unknown as Ai } };
};

test("without the binding the stand-in writes, and is named", async () => {
  const { model, text } = await generate(env, standIn(), "Why is tea green?", "k");
  expect(model).toBe(STAND_IN);
  expect(text).toMatch(/^\[simulated\] .*Why is tea green\?/s);
});

test("with the binding it is asked in the same way, with the key for the gateway's cache", async () => {
  const { run, env: bound } = binding({ response: "Leaves." });
  expect(await generate(bound, standIn(), "Why is tea green?", "k")).toEqual({
    model: "@cf/meta/llama-3.2-3b-instruct",
    text: "Leaves.",
  });
  expect(run.mock.calls).toEqual([
    [
      "@cf/meta/llama-3.2-3b-instruct",
      {
        messages: [
          { role: "system", content: expect.any(String) },
          { role: "user", content: "Why is tea green?" },
        ],
        max_tokens: 2048,
      },
      { gateway: { id: "default", cacheKey: "k", cacheTtl: 3600 } },
    ],
  ]);
});

const chat = (content: unknown) => ({ choices: [{ index: 0, message: { content } }], usage: {} });

test.each([
  ["of its own shape", { response: "Leaves.", usage: {} }],
  ["of the shape of chat completions", chat("Leaves.")],
  ["of both, of which one is empty", { response: null, ...chat("Leaves.") }],
  ["that is the text itself", "Leaves."],
])("an answer %s is taken", async (_what, answer) => {
  expect((await generate(binding(answer).env, standIn(), "p", "k")).text).toBe("Leaves.");
});

test.each([
  ["nothing", undefined, "undefined"],
  ["null", null, "null"],
  ["a number", 42, "a number"],
  ["an empty text", { response: "" }, "an object with response"],
  ["a blank one", " \n", "a blank one"],
  ["a number as text", { response: 7 }, "an object with response"],
  ["no choices", { choices: [], usage: {} }, "an object with choices, usage"],
  ["a choice that calls a tool", chat(null), "an object with choices, usage"],
  ["an empty object", {}, "an object with nothing in it"],
  ["a stream", new Blob(["data: {}"]).stream(), "a stream"],
])("an answer of %s is refused for good, and says so", async (_what, answer, shape) => {
  const error = await generate(binding(answer).env, standIn(), "p", "k").catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({
    name: "NonRetryableError",
    message: `The model returned no text, but ${shape}.`,
  });
});

test("what a page or UTF-8 cannot carry is replaced before anybody sees it", async () => {
  const { text } = await generate(binding({ response: "a\0b\ud800c" }).env, standIn(), "p", "k");
  expect(text).toBe("a\uFFFDb\uFFFDc");
});
