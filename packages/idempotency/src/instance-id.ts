import { checkPart } from "./key.ts";
import { sha256Hex } from "./sha256.ts";

const MAX_INSTANCE_ID_LENGTH = 100;
const HEX_SHA256_LENGTH = 64;
const HASH_MARK = "---";
const MAX_HINT_LENGTH = MAX_INSTANCE_ID_LENGTH - HEX_SHA256_LENGTH - HASH_MARK.length;

// Words of safe characters, joined by single hyphens: "u_42", "order-confirmed", a UUID.
const READABLE = /^[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*$/;

/**
 * The Workflow instance id for one piece of business: the same input gives the same id, so that `create` can refuse
 * the second start.
 *
 * It resolves to a valid instance id: `^[A-Za-z0-9_][A-Za-z0-9_-]*$`, at most 100 characters (Cloudflare docs,
 * "Workflows: Limits" and "Workers API"; measured locally).
 *
 * - **Readable where it can be**: `("onboard", "u_42")` gives `onboard-u_42`. A hyphen inside a part is doubled, so
 *   `("etl", "2026-11-29")` gives `etl-2026--11--29`.
 * - **Hashed where it must be** (other characters, a leading, trailing or double hyphen, or too long):
 *   `<prefix>---<SHA-256 in hex>`. The parts do not show, but a hash of guessable input, such as an email address,
 *   can be guessed: it is not a secret.
 * - **Never the same for two inputs**, as far as SHA-256 has no collision: `("a", "b-c")`, `("a-b", "c")` and
 *   `("a", "b", "c")` differ, and no input reads like another's hashed form.
 *
 * Input is compared by UTF-16 code unit. Nothing is normalised: "Ä" composed and decomposed, or `A@x.org` and
 * `a@x.org`, are two inputs. Normalise first where they mean one person. A number stands for its decimal text: `1` and
 * `"1"` are one input, since the same id comes as a number from a database and as text from a URL.
 *
 * An id is free again after the instance's retention (3 days on Free, 7 to 30 days on Paid; docs, "Workflows:
 * Limits"): for longer than that keep a row of your own, see `once`.
 *
 * Asynchronous because `crypto.subtle` is: `node:crypto` would work in a recent Worker only.
 *
 * @param prefix what is done: `onboard`. Keep it constant in the code.
 * @param parts whom or what it is done to, most general first
 * @throws TypeError naming the part that is undefined, null, empty or no finite number: it would make one id of many inputs
 */
export async function instanceIdFor(
  prefix: string,
  ...parts: readonly (string | number)[]
): Promise<string> {
  const words = [prefix, ...parts].map((part, index) => checkPart(part, index, "an instance id"));

  if (words.every((word) => READABLE.test(word))) {
    // No word starts or ends with a hyphen or holds two in a row, so a run of one hyphen always separates words, a run
    // of two is always a hyphen inside a word, and a run of three is never there: it marks the hashed form.
    const id = words.map((word) => word.replaceAll("-", "--")).join("-");
    if (id.length <= MAX_INSTANCE_ID_LENGTH) return id;
  }

  // JSON, because it tells every list of texts apart and escapes lone surrogates, which UTF-8 would make alike.
  return `${hint(prefix)}${HASH_MARK}${await sha256Hex(JSON.stringify(words))}`;
}

function hint(prefix: string): string {
  const safe = prefix.replaceAll(/[^A-Za-z0-9_]+/g, "_");
  return safe.slice(0, MAX_HINT_LENGTH) || "_";
}
