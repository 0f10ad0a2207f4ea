import { issuesAsText } from "@durable-lessons/worker-helpers/http";
import * as v from "valibot";
import { QUEUES } from "./queues.ts";
import { onboardingRequest } from "./schemas.ts";
import { startOnboarding } from "./start-onboarding.ts";

/** Starts one onboarding per message. A message that no retry can help is parked, and the others are processed. */
export async function consumeOnboardingRequests(batch: MessageBatch, env: Env): Promise<void> {
  for (const message of batch.messages) {
    try {
      await consume(message, batch.queue, env);
      message.ack();
    } catch (error) {
      console.error("onboarding request failed, will be retried", message.id, error);
      message.retry();
    }
  }
}

async function consume(message: Message, queue: string, env: Env): Promise<void> {
  const user = v.safeParse(onboardingRequest, message.body);
  if (queue === QUEUES.onboardingRequestsDeadLetters) {
    await park(message, queue, "its retries are used up", env);
  } else if (!user.success) {
    await park(message, queue, issuesAsText(user.issues), env);
  } else {
    const onboarding = await startOnboarding(env, user.output);
    // No client waits for a response here, so the reason is stored for a person.
    if (onboarding.outcome === "refused") await park(message, queue, onboarding.reason, env);
  }
}

async function park({ id, body }: Message, queue: string, reason: string, env: Env): Promise<void> {
  await env.DB.prepare(
    `INSERT INTO parked_messages (message_id, queue, body, reason, parked_at) VALUES (?1, ?2, ?3, ?4, ?5)
     ON CONFLICT (message_id) DO NOTHING`,
  )
    .bind(id, queue, JSON.stringify(body ?? null), reason, Date.now())
    .run();
}
