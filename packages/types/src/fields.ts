import * as v from "valibot";

/** Longest identifier that the lessons accept, in UTF-16 code units. */
export const MAX_IDENTIFIER_LENGTH = 200;

/** Longest email address that can be delivered to, in octets (RFC 5321, path of 256 less its brackets). */
export const MAX_EMAIL_LENGTH = 254;

/** Longest part before the `@`, in octets (RFC 5321). */
const MAX_LOCAL_PART_LENGTH = 64;

/**
 * A JSON object with exactly these fields. Says in plain words what is missing, and what does not belong there.
 */
export function body<Entries extends v.ObjectEntries>(entries: Entries) {
  return v.pipe(
    v.unknown(),
    // An array would pass for an object of which every field is left out.
    v.check((value) => !Array.isArray(value), NO_OBJECT),
    v.strictObject(entries, ({ expected, received, input }) => {
      if (expected === "Object") return NO_OBJECT;
      if (expected === "never") return `${received.replaceAll('"', "")} is not a known field`;
      return input === undefined && expected
        ? `${expected.replaceAll('"', "")} is missing`
        : "invalid";
    }),
  );
}

const NO_OBJECT = "the body must be a JSON object";

/**
 * Text in one line: well-formed Unicode without control characters. It stands in mails, in logs and in names of steps, where a
 * line break in it could pass for one of ours.
 *
 * @param name the field's name, for the messages
 * @param maxLength the most UTF-16 code units
 */
export function line(name: string, maxLength: number) {
  return v.pipe(
    v.string(`${name} must be text`),
    v.maxLength(maxLength, `${name} must be at most ${maxLength} characters`),
    v.check((text) => text.isWellFormed(), `${name} must be well-formed Unicode`),
    v.check(
      (text) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text),
      `${name} must be one line, without control characters`,
    ),
  );
}

/**
 * A {@link line} that may stand in a mail to somebody else: nothing in it that a mail program makes a link of, and no address.
 *
 * @param name the field's name, for the messages
 * @param maxLength the most UTF-16 code units
 */
export function words(name: string, maxLength: number) {
  return v.pipe(
    line(name, maxLength),
    v.check(
      // "J. R. R. Tolkien" is a name. "example.com" is a link, whatever its last part.
      (text) => !/:\/\/|[\p{L}\p{N}][.。．][\p{L}\p{N}]{2,}|@/u.test(text),
      `${name} must not hold a link or an address`,
    ),
  );
}

/**
 * An identifier that a caller chooses: a {@link line} of 1 to {@link MAX_IDENTIFIER_LENGTH} characters that is not blank.
 * It need not be a valid Workflow instance id: `instanceIdFor` makes one of it.
 *
 * @param name the field's name, for the messages
 */
export function identifier(name: string) {
  return v.pipe(
    line(name, MAX_IDENTIFIER_LENGTH),
    v.check((text) => text.trim() !== "", `${name} must not be empty`),
    // Whatever encodes them, a URL's path takes these two for directions.
    v.check(
      (text) => text !== "." && text !== "..",
      `${name} must not be . or .., which cannot stand in a URL`,
    ),
  );
}

/**
 * An identifier that can be read out on the phone and stands in URLs as it is: 1 to 64 letters, digits, `-` or `_`.
 *
 * @param name the field's name, for the messages
 */
export function slug(name: string) {
  return v.pipe(
    v.string(`${name} must be text`),
    v.regex(
      /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/,
      `${name} must be 1 to 64 letters, digits, - or _, and start with a letter or digit`,
    ),
  );
}

// Letters of every script (RFC 6531). Neither class holds a dot, so that no input takes long to refuse.
const LOCAL_PART =
  /^[^\s@."(),:;<>[\\\]\p{Cc}\p{Cf}\p{Cs}]+(?:\.[^\s@."(),:;<>[\\\]\p{Cc}\p{Cf}\p{Cs}]+)*$/u;
const DOMAIN =
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?\.)+(?:[\p{L}\p{M}]{2,}|xn--[a-z0-9-]+)$/iu;

const octets = (text: string) => new TextEncoder().encode(text).length;

/**
 * An email address in any script, of at most {@link MAX_EMAIL_LENGTH} bytes: without the space around it, otherwise as it was
 * typed.
 *
 * @param name the field's name, for the messages
 */
export function emailAddress(name: string) {
  return v.pipe(
    v.string(`${name} must be text`),
    v.trim(),
    v.check(
      (email) => octets(email) <= MAX_EMAIL_LENGTH,
      `${name} must be at most ${MAX_EMAIL_LENGTH} bytes`,
    ),
    v.check((email) => {
      const at = email.lastIndexOf("@");
      const local = email.slice(0, Math.max(at, 0));
      return (
        LOCAL_PART.test(local) &&
        octets(local) <= MAX_LOCAL_PART_LENGTH &&
        DOMAIN.test(email.slice(at + 1)) &&
        // Some letters cannot stand in a domain, and some "xn--" stand for none.
        URL.canParse(`http://${email.slice(at + 1)}`)
      );
    }, `${name} must be an email address`),
  );
}
