import * as v from "valibot";
import { body, emailAddress, identifier, words } from "./fields.ts";

/** Longest name that a signup may give, in UTF-16 code units. */
export const MAX_NAME_LENGTH = 100;

const person = { email: emailAddress("email"), name: v.optional(words("name", MAX_NAME_LENGTH)) };

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
