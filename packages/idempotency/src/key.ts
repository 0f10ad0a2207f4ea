import { sha256Hex } from "./sha256.ts";

/** Longest key or fingerprint, in UTF-16 code units. */
export const MAX_KEY_LENGTH = 512;

/**
 * Returns `key` if D1 can keep it as it is.
 *
 * @param what the name of the thing in the error's message
 * @throws TypeError if it is no text, empty, longer than {@link MAX_KEY_LENGTH}, or has a lone surrogate,
 *   which D1 gives back as another character (measured locally)
 */
export function checkKey(key: string, what = "idempotency key"): string {
  if (typeof key !== "string" || key === "") {
    throw new TypeError(`The ${what} must be text and not empty`);
  }
  if (key.length > MAX_KEY_LENGTH) {
    throw new TypeError(
      `The ${what} has ${key.length} characters, at most ${MAX_KEY_LENGTH} are allowed: hash it`,
    );
  }
  if (!key.isWellFormed()) {
    throw new TypeError(`The ${what} must be well-formed Unicode`);
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

function sortMembers(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  // An object literal would take a member named "__proto__" for its prototype and lose it.
  const sorted: Record<string, unknown> = Object.create(null);
  for (const [name, member] of Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    sorted[name] = member;
  }
  return sorted;
}
