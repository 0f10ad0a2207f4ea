import type { OutsideWorld } from "@durable-lessons/outside-world";
import { signupMessage } from "@durable-lessons/types";
import { issuesAsText } from "@durable-lessons/worker-helpers/http";
import * as v from "valibot";

export async function consume(batch: MessageBatch, env: OutsideWorld & { DB: D1Database }) {
  for (const message of batch.messages) {
    try {
      const signup = v.safeParse(signupMessage, message.body);
      if (!signup.success) {
        await park(message, issuesAsText(signup.issues), env.DB);
        continue;
      }
      const { id, email } = signup.output;
      await env.mail.send({ to: email, subject: "Welcome", text: "Good to have you.", key: id });
    } catch {
      message.retry();
    }
  }
}

async function park({ id, body }: Message, reason: string, db: D1Database) {
  await db
    .prepare(
      `INSERT INTO dead_letters (id, body, reason, stored_at) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (id) DO NOTHING`,
    )
    .bind(id, JSON.stringify(body ?? null), reason, Date.now())
    .run();
}
