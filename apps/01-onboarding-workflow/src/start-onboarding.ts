import { createInstanceOnce, fingerprintOf, instanceIdFor } from "@durable-lessons/idempotency";
import { eventsSoFar } from "@durable-lessons/worker-helpers/instances";
import type { OnboardingRequest } from "./schemas.ts";

/** The result of the request: a run, this one or an earlier one; or none, with the reason and what to do. */
export type Onboarding =
  | { id: string; outcome: "started" | "already-started" }
  | { id: string; outcome: "refused"; reason: string };

/** Starts the onboarding of a user, once: the id is made from the user, not from the request. */
export async function startOnboarding(env: Env, user: OnboardingRequest): Promise<Onboarding> {
  const id = await instanceIdFor("onboard", user.userId);
  const { instance, created } = await createInstanceOnce(env.ONBOARDING, { id, params: user });
  if (created) return { id, outcome: "started" };

  // The existing run may have other params, and may be over. The caller has to know both.
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

/** Was this instance started with other params? Unknown while it has not started. */
async function isOfAnother(instance: WorkflowInstance, user: OnboardingRequest): Promise<boolean> {
  const start = (await eventsSoFar(instance)).find(({ type }) => type === "workflow_started");
  const params = start?.type === "workflow_started" ? start.params : undefined;
  return params !== undefined && (await fingerprintOf(params)) !== (await fingerprintOf(user));
}
