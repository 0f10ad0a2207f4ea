import { createInstanceOnce, fingerprintOf, instanceIdFor } from "@durable-lessons/idempotency";
import { eventsSoFar } from "@durable-lessons/worker-helpers/instances";
import type { OnboardingRequest } from "./schemas.ts";

/** What has come of the wish: a run, this one or an earlier one; or none, with the reason and the way on. */
export type Onboarding =
  | { id: string; outcome: "started" | "already-started" }
  | { id: string; outcome: "refused"; reason: string };

/** Starts the onboarding of a user, once: the id is made of who the user is, not of the request that asks. */
export async function startOnboarding(env: Env, user: OnboardingRequest): Promise<Onboarding> {
  const id = await instanceIdFor("onboard", user.userId);
  const { instance, created } = await createInstanceOnce(env.ONBOARDING, { id, params: user });
  if (created) return { id, outcome: "started" };

  // The run that is there has params of its own, and may be over. Whoever asks again has to hear both.
  if (await isOfAnother(instance, user)) {
    const reason = `There is another user "${user.userId}". Choose another userId.`;
    return { id, outcome: "refused", reason };
  }
  const { status } = await instance.status();
  if (status === "errored" || status === "terminated") {
    const reason = `This onboarding has failed: see /status/${id}. An operator can restart it: wrangler workflows instances restart onboarding ${id}`;
    return { id, outcome: "refused", reason };
  }
  return { id, outcome: "already-started" };
}

/** Was this instance started with other params? One that still waits for its start does not tell. */
async function isOfAnother(instance: WorkflowInstance, user: OnboardingRequest): Promise<boolean> {
  const start = (await eventsSoFar(instance)).find(({ type }) => type === "workflow_started");
  const params = start?.type === "workflow_started" ? start.params : undefined;
  return params !== undefined && (await fingerprintOf(params)) !== (await fingerprintOf(user));
}
