import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { Text } from "./drafts.ts";

/** Any text model of Workers AI. */
const MODEL = "@cf/meta/llama-3.2-3b-instruct";

/** What stands in the place of a model's name wherever there is none. */
export const STAND_IN = "a stand-in, not an AI";

/** Room for an article: by default a model of Workers AI ends after 256 tokens, in mid-sentence if need be. */
const MAX_TOKENS = 2048;

/** What a retry of a lost answer may find in the gateway's cache. */
const CACHE_SECONDS = 3600;

/**
 * Has a text written: by Workers AI where it is bound, by the stand-in elsewhere.
 *
 * @param key the same for every attempt. The stand-in writes once per key. Workers AI knows no key: an attempt that dies
 *   while it waits for the answer may be paid again, unless the gateway has the first answer in its cache by then.
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
  const { response = "" } = AI
    ? await AI.run(
        MODEL,
        { ...input, max_tokens: MAX_TOKENS },
        { gateway: { id: "default", cacheKey: key, cacheTtl: CACHE_SECONDS } },
      )
    : await standIn.run(STAND_IN, input, { key });
  if (response.trim() === "") throw new Error("The model gave no text.");
  // What UTF-8 or HTML cannot carry would be another text on the reviewer's page.
  const text = response.toWellFormed().replaceAll("\0", "\uFFFD");
  return { model: AI ? MODEL : STAND_IN, text };
}
