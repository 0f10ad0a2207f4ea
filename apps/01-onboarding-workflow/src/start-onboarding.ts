import { createInstanceOnce, instanceIdFor } from "@durable-lessons/idempotency";
import type { OnboardingRequest } from "./schemas.ts";

/** Starts the onboarding of a user, once: the id is made of who the user is, not of the request that asks. */
export async function startOnboarding(env: Env, user: OnboardingRequest) {
  const id = await instanceIdFor("onboard", user.userId);
  return createInstanceOnce(env.ONBOARDING, { id, params: user });
}
