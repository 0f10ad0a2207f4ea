import type { SignupRequest } from "@durable-lessons/types";
import { limitRecipient } from "@durable-lessons/worker-helpers/limits";
import { signupId } from "./signup-id.ts";

/**
 * Puts a signup into the queue.
 *
 * @returns its id
 * @throws HTTPException with 429 where this address is asked for too often, by whomever; what the queue throws
 */
export async function signUp(
  { PER_RECIPIENT, SIGNUPS }: ProducerEnv,
  signup: SignupRequest,
): Promise<string> {
  await limitRecipient(PER_RECIPIENT, signup.email);
  const id = await signupId(signup.email);
  await SIGNUPS.send({ id, ...signup });
  return id;
}
