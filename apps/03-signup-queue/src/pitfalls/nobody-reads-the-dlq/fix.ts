import type { OutsideWorld } from "@durable-lessons/outside-world";
import { signupMessage } from "@durable-lessons/types";
import * as v from "valibot";

export { consume } from "./consumer.ts";

type Env = OutsideWorld & { DB: D1Database };

export async function consumeDeadLetters(batch: MessageBatch, env: Env) {
  for (const message of batch.messages) {
    // Behind this queue there is no other.
    await keep(message, env).catch(() => message.retry());
  }
}

async function keep({ id, body }: Message, env: Env) {
  const signup = v.safeParse(signupMessage, body);
  const signupId = signup.success ? signup.output.id : null;
  await env.DB.prepare(
    `INSERT INTO dead_letters (id, signup_id, body, reason, stored_at)
     VALUES (?1, ?2, ?3, 'its retries are used up', ?4) ON CONFLICT (id) DO NOTHING`,
  )
    .bind(id, signupId, JSON.stringify(body ?? null), Date.now())
    .run();
  const letter = signupId ?? id;
  const alert = { subject: "A signup has died", text: `It is ${letter}.` };
  await env.alerts.send({ ...alert, key: `dead-letter/${letter}` });
}
