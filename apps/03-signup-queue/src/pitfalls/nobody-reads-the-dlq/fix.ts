import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { SignupMessage } from "@durable-lessons/types";

export { consume } from "./consumer.ts";

export async function consumeDeadLetters(
  batch: MessageBatch<SignupMessage>,
  env: OutsideWorld & { DB: D1Database },
) {
  for (const { id, body } of batch.messages) {
    await env.DB.prepare(
      `INSERT INTO dead_letters (id, signup_id, body, reason, stored_at)
       VALUES (?1, ?2, ?3, 'its retries are used up', ?4) ON CONFLICT (id) DO NOTHING`,
    )
      .bind(id, body.id, JSON.stringify(body), Date.now())
      .run();
    const alert = { subject: "A signup has died", text: `It is message ${id}.` };
    await env.alerts.send({ to: "operator@example.com", ...alert, key: id });
  }
}
