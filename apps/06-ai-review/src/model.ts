import type { OutsideWorld } from "@durable-lessons/outside-world";
import { NonRetryableError } from "cloudflare:workflows";
import * as v from "valibot";
import type { Text } from "./drafts.ts";

/** Any text model of Workers AI. */
const MODEL = "@cf/meta/llama-3.2-3b-instruct";

/** What stands in the place of a model's name wherever there is none. */
export const STAND_IN = "a stand-in, not an AI";

/** Room for an article: by default a model of Workers AI ends after 256 tokens, in mid-sentence if need be. */
const MAX_TOKENS = 2048;

/** What a retry of a lost answer may find in the gateway's cache. */
const CACHE_SECONDS = 3600;

const someText = v.pipe(
  v.string(),
  v.check((text) => text.trim() !== ""),
);

/** The shapes that models of Workers AI answer in: their own, and that of chat completions. */
const anyAnswer = v.union([
  someText,
  v.pipe(
    v.object({ response: someText }),
    v.transform(({ response }) => response),
  ),
  v.pipe(
    v.object({ choices: v.looseTuple([v.object({ message: v.object({ content: someText }) })]) }),
    v.transform(({ choices: [{ message }] }) => message.content),
  ),
]);

/** Says what an answer is, without its content. */
async function shapeOf(answer: unknown): Promise<string> {
  if (answer instanceof ReadableStream) {
    await answer.cancel();
    return "a stream";
  }
  if (answer === null || answer === undefined) return String(answer);
  if (typeof answer === "string") return "a blank one";
  if (typeof answer !== "object") return `a ${typeof answer}`;
  return `an object with ${Object.keys(answer).join(", ") || "nothing in it"}`;
}

/**
 * Has a text written: by Workers AI where it is bound, by the stand-in elsewhere.
 *
 * @param key the same for every attempt. The stand-in writes once per key. Workers AI knows no key: an attempt that dies
 *   while it waits for the answer may be paid again, unless the gateway has the first answer in its cache by then.
 * @throws NonRetryableError where the answer holds no text
 */
export async function generate(
  { AI }: Env & { AI?: Ai },
  standIn: OutsideWorld["model"],
  prompt: string,
  key: string,
): Promise<Text> {
  const input = {
    messages: [
      { role: "system", content: "Write a short article in plain text." },
      { role: "user", content: prompt },
    ],
  };
  const answer: unknown = AI
    ? await AI.run(
        MODEL,
        { ...input, max_tokens: MAX_TOKENS },
        { gateway: { id: "default", cacheKey: key, cacheTtl: CACHE_SECONDS } },
      )
    : await standIn.run(STAND_IN, input, { key });
  const read = v.safeParse(anyAnswer, answer);
  // The next answer would have no other shape, and would be paid again.
  if (!read.success)
    throw new NonRetryableError(`The model returned no text, but ${await shapeOf(answer)}.`);
  // What UTF-8 or HTML cannot carry would be another text on the reviewer's page.
  const text = read.output.toWellFormed().replaceAll("\0", "\uFFFD");
  return { model: AI ? MODEL : STAND_IN, text };
}
