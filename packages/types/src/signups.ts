import * as v from "valibot";
import { body, identifier, MAX_EMAIL_LENGTH } from "./fields.ts";

/** Longest name that a signup may give, in UTF-16 code units. */
export const MAX_NAME_LENGTH = 200;

/** Longest part before the `@`, in octets (RFC 5321). */
const MAX_LOCAL_PART_LENGTH = 64;

// Letters of every script (RFC 6531). Neither class holds a dot, so that no input takes long to refuse.
const LOCAL_PART =
  /^[^\s@."(),:;<>[\\\]\p{Cc}\p{Cf}\p{Cs}]+(?:\.[^\s@."(),:;<>[\\\]\p{Cc}\p{Cf}\p{Cs}]+)*$/u;
const DOMAIN = /^(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?\.)+[\p{L}\p{M}]{2,}$/u;

const octets = (text: string) => new TextEncoder().encode(text).length;

/** An address in any script, without the space around it, otherwise as it was typed. */
const signupEmail = v.pipe(
  v.string("email must be text"),
  v.trim(),
  v.check(
    (email) => octets(email) <= MAX_EMAIL_LENGTH,
    `email must be at most ${MAX_EMAIL_LENGTH} bytes`,
  ),
  v.check((email) => {
    const at = email.lastIndexOf("@");
    const local = email.slice(0, Math.max(at, 0));
    return (
      LOCAL_PART.test(local) &&
      octets(local) <= MAX_LOCAL_PART_LENGTH &&
      DOMAIN.test(email.slice(at + 1))
    );
  }, "email must be an e-mail address"),
);

const signupName = v.pipe(
  v.string("name must be text"),
  v.maxLength(MAX_NAME_LENGTH, `name must be at most ${MAX_NAME_LENGTH} characters`),
  v.check((name) => name.isWellFormed(), "name must be well-formed Unicode"),
  // It stands in a mail: a line break in it could pass for one of ours.
  v.check((name) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name), "name must be one line"),
);

const person = { email: signupEmail, name: v.optional(signupName) };

/** Body of `POST /signup`. */
export const signupRequest = body(person);

/** Who signs up, validated: see {@link signupRequest}. */
export type SignupRequest = v.InferOutput<typeof signupRequest>;

/**
 * Message of the queue `signups`. Its `id` is made of what the signup is, not of the click: the idempotency key.
 */
export const signupMessage = body({ id: identifier("id"), ...person });

/** A signup on its way, validated: see {@link signupMessage}. */
export type SignupMessage = v.InferOutput<typeof signupMessage>;
