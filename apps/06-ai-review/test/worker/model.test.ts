import { env } from "cloudflare:workers";
import { outsideWorld } from "@durable-lessons/outside-world";
import { expect, test, vi } from "vitest";
import { generate, STAND_IN } from "../../src/model.ts";

const standIn = () => outsideWorld({ WORLD: env.WORLD }, crypto.randomUUID()).model;

/** Stands for the binding, which has no local form: this shows what it is asked, not what it answers. */
const binding = (response?: string) => {
  const run = vi.fn(() => Promise.resolve({ response }));
  return { run, env: { ...env, AI: { run } as unknown as Ai } };
};

test("without the binding the stand-in writes, and is named", async () => {
  const { model, text } = await generate(env, standIn(), "Why is tea green?", "k");
  expect(model).toBe(STAND_IN);
  expect(text).toMatch(/^\[simulated\] .*Why is tea green\?/s);
});

test("with the binding it is asked in the same way, with the key for the gateway's cache", async () => {
  const { run, env: bound } = binding("Leaves.");
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

test.each([undefined, "", " \n"])("an answer without a text is an error: %j", async (response) => {
  await expect(generate(binding(response).env, standIn(), "p", "k")).rejects.toThrow("no text");
});

test("what a page or UTF-8 cannot carry is replaced before anybody sees it", async () => {
  const { text } = await generate(binding("a\0b\ud800c").env, standIn(), "p", "k");
  expect(text).toBe("a\uFFFDb\uFFFDc");
});
