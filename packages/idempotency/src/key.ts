import { sha256Hex } from "./sha256.ts";

/** Longest key or fingerprint, in UTF-16 code units. */
export const MAX_KEY_LENGTH = 512;

// What a template literal makes of a field that is not there: `welcome:${body.userId}`.
const MISSING_PART =
  /(?:(?:^|[:/|#])(?:null|NaN|\[object Object\])|(?:^|[-_.:/|#])undefined)(?=$|[:/|#])|:$/;

/**
 * The idempotency key of one piece of work: what is done, and whom or what it is done to, joined by colons.
 *
 * `keyFor("welcome", userId)` gives `welcome:u_42`. A part that is missing or empty is an error, since all messages
 * without it would share one key, and all but the first be taken for duplicates. Parts are percent-encoded, so that no two
 * lists of parts give the same key. A number stands for its decimal text.
 *
 * What the parts should say: the tenant, the purpose, and whoever may ask. Where a caller chooses a part of the key, the
 * caller's own id must be another: else callers can ask for one another's results.
 *
 * @param purpose what is done: `welcome`. Keep it constant in the code
 * @param parts whom or what it is done to, most general first
 * @throws TypeError naming the part that is undefined, null, empty, no finite number or not well-formed Unicode; or if the
 *   key is longer than {@link MAX_KEY_LENGTH}
 */
export function keyFor(purpose: string, ...parts: readonly (string | number)[]): string {
  const texts = [purpose, ...parts].map((part, index) => {
    const text = checkPart(part, index, "an idempotency key");
    if (!text.isWellFormed()) {
      throw new TypeError(`${nameOf(index)} of an idempotency key must be well-formed Unicode`);
    }
    const encoded = encodeURIComponent(text);
    return encoded.replace(/^(?:undefined|null|NaN)$|(?<=[-_.])undefined$/, escapeFirst);
  });
  return checkKey(texts.join(":"));
}

// A user may be called "null": that part is there, and must not look as if it were not.
function escapeFirst(word: string): string {
  return `%${word.charCodeAt(0).toString(16).toUpperCase()}${word.slice(1)}`;
}

/**
 * The text of one part of a key or an id.
 *
 * @param part a type that a caller claims for what came out of JSON proves nothing, so it is looked at
 * @param index from 0
 * @param of what it is a part of, for the error
 * @throws TypeError naming the part, if it is neither text that is not empty nor a finite number
 */
export function checkPart(part: unknown, index: number, of: string): string {
  if (part === "" || !(typeof part === "string" || Number.isFinite(part))) {
    throw new TypeError(
      `${nameOf(index)} of ${of} must be text that is not empty, or a finite number: it is ${seen(part)}`,
    );
  }
  return String(part);
}

/** A wrong value in an error's words. Not by its own `toString`, which JSON can make anything of. */
export function seen(value: unknown): string {
  if (value === "") return "empty";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

function nameOf(index: number): string {
  return `Part ${index + 1}`;
}

/**
 * Returns `key` if D1 can keep it as it is and no part of it is missing.
 *
 * @throws TypeError as {@link checkText}, or if it reads as if a template had been filled with a field that was not there:
 *   it ends with a colon, or a part of it is `undefined`, `null`, `NaN` or `[object Object]`. {@link keyFor} writes such
 *   words in another way where they are meant
 */
export function checkKey(key: string): string {
  checkText(key, "idempotency key");
  if (MISSING_PART.test(key)) {
    throw new TypeError(`The idempotency key "${key}" lacks a part: make it with keyFor`);
  }
  return key;
}

/**
 * Returns `key` if D1 can keep it as it is.
 *
 * @param what the name of the thing in the error's message
 * @throws TypeError if it is no text, empty, longer than {@link MAX_KEY_LENGTH}, or has a lone surrogate,
 *   which D1 gives back as another character (measured locally)
 */
export function checkText(key: string, what: string): string {
  if (typeof key !== "string" || key === "" || !key.isWellFormed()) {
    throw new TypeError(`The ${what} must be text, not empty, and well-formed Unicode`);
  }
  if (key.length > MAX_KEY_LENGTH) {
    throw new TypeError(
      `The ${what} has ${key.length} characters, at most ${MAX_KEY_LENGTH} are allowed: hash it`,
    );
  }
  return key;
}

/**
 * A fingerprint of a payload: 64 hexadecimal characters, the same for payloads that are equal as JSON whatever the
 * order of their members.
 *
 * As in JSON a `Date` equals its ISO text and a member that is `undefined` equals one that is not there. Text is compared
 * by code unit and not normalised.
 *
 * @throws TypeError for what JSON cannot hold: a cycle, a bigint, `undefined` itself
 */
export async function fingerprintOf(payload: unknown): Promise<string> {
  const json = JSON.stringify(payload, sortMembers) as string | undefined;
  if (json === undefined) throw new TypeError("A fingerprint needs a payload that JSON can hold");
  return sha256Hex(json);
}

/**
 * The fingerprint of a message's whole body, for `consumeOnce`.
 *
 * @throws as `fingerprintOf`
 * @example
 * await consumeOnce(batch, { db, key, handler, fingerprint: fingerprintOfBody });
 */
export async function fingerprintOfBody({ body }: { body: unknown }): Promise<string> {
  return fingerprintOf(body);
}

function sortMembers(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  // An object literal would take a member named "__proto__" for its prototype and lose it.
  const sorted: Record<string, unknown> = Object.create(null);
  for (const [name, member] of Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    sorted[name] = member;
  }
  return sorted;
}
