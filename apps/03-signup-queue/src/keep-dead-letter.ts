import { signupMessage } from "@durable-lessons/types";
import * as v from "valibot";

/**
 * Stores a message for a person to decide upon. Safe to repeat: until it has returned, the message must not be acked.
 *
 * @param reason why, where that is known; otherwise the latest failure that was noted
 */
export async function keepDeadLetter(
  { id, body, attempts }: Message,
  env: ConsumerEnv,
  reason?: string,
): Promise<void> {
  const signup = v.safeParse(signupMessage, body);
  await env.DB.prepare(
    `INSERT INTO dead_letters (id, signup_id, body, reason, attempts, stored_at)
     SELECT ?1, ?2, ?3, COALESCE(?4, failure.reason, 'its retries are used up'),
       iif(?4 IS NULL, failure.attempts, ?5), ?6
     FROM (SELECT 1) LEFT JOIN delivery_failures AS failure ON failure.signup_id = ?2
     WHERE true
     ON CONFLICT (id) DO NOTHING`,
  )
    .bind(
      id,
      signup.success ? signup.output.id : null,
      asJson(body),
      reason ?? null,
      attempts,
      Date.now(),
    )
    .run();
}

/** JSON of whatever somebody has put into the queue. */
function asJson(body: unknown): string {
  try {
    return JSON.stringify(body) ?? "null";
  } catch {
    return JSON.stringify(String(body));
  }
}
