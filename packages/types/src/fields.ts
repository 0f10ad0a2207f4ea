import * as v from "valibot";

/** Longest identifier that the lessons accept, in UTF-16 code units. */
export const MAX_IDENTIFIER_LENGTH = 200;

/** Longest e-mail address that can be delivered to, in octets (RFC 5321, path of 256 less its brackets). */
export const MAX_EMAIL_LENGTH = 254;

/**
 * A JSON object with exactly these fields. Says in plain words what is missing, and what does not belong there.
 */
export function body<Entries extends v.ObjectEntries>(entries: Entries) {
  return v.strictObject(entries, ({ expected, received, input }) => {
    if (expected === "Object") return "the body must be a JSON object";
    if (expected === "never") return `${received.replaceAll('"', "")} is not a known field`;
    return input === undefined && expected
      ? `${expected.replaceAll('"', "")} is missing`
      : "invalid";
  });
}

/**
 * An identifier that a caller chooses: any text of 1 to {@link MAX_IDENTIFIER_LENGTH} characters that is not blank.
 * It need not be a valid Workflow instance id: `instanceIdFor` makes one of it.
 *
 * @param name the field's name, for the messages
 */
export function identifier(name: string) {
  return v.pipe(
    v.string(`${name} must be text`),
    v.check((text) => text.trim() !== "", `${name} must not be empty`),
    v.maxLength(
      MAX_IDENTIFIER_LENGTH,
      `${name} must be at most ${MAX_IDENTIFIER_LENGTH} characters`,
    ),
    v.check((text) => text.isWellFormed(), `${name} must be well-formed Unicode`),
  );
}

/**
 * An e-mail address of at most {@link MAX_EMAIL_LENGTH} characters.
 *
 * @param name the field's name, for the messages
 */
export function emailAddress(name: string) {
  return v.pipe(
    v.string(`${name} must be text`),
    v.maxLength(MAX_EMAIL_LENGTH, `${name} must be at most ${MAX_EMAIL_LENGTH} characters`),
    v.email(`${name} must be an e-mail address`),
  );
}
