import type { MessageOutcome } from "@durable-lessons/idempotency";

/** Notes why messages failed, in one statement, so that a dead letter can say what killed it. */
export async function noteFailures(
  batch: MessageBatch,
  outcomes: MessageOutcome[],
  env: ConsumerEnv,
): Promise<void> {
  const attempts = new Map(batch.messages.map((message) => [message.id, message.attempts]));
  const failures = outcomes.flatMap(({ key, messageId, outcome, error }) =>
    outcome === "failed" && key !== undefined
      ? [{ key, attempts: attempts.get(messageId) ?? 1, reason: String(error) }]
      : [],
  );
  if (failures.length === 0) return;
  console.error("signups failed, and will be retried", failures);
  try {
    await env.DB.prepare(
      `INSERT INTO delivery_failures (signup_id, attempts, reason, failed_at)
       SELECT value ->> '$.key', value ->> '$.attempts', value ->> '$.reason', ?2 FROM json_each(?1)
       WHERE true
       ON CONFLICT (signup_id) DO UPDATE SET
         attempts = excluded.attempts, reason = excluded.reason, failed_at = excluded.failed_at`,
    )
      .bind(JSON.stringify(failures), Date.now())
      .run();
  } catch (error) {
    // Only a reason is lost. A throw would bring the whole batch back.
    console.error("the failures could not be noted", error);
  }
}
