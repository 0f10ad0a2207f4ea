import type { OutsideWorld } from "@durable-lessons/outside-world";
import { signupMessage } from "@durable-lessons/types";
import * as v from "valibot";

export async function consume(batch: MessageBatch, env: OutsideWorld & { DB: D1Database }) {
  for (const message of batch.messages) {
    try {
      const { id, email } = v.parse(signupMessage, message.body);
      const claimed = await env.DB.prepare(
        "INSERT INTO mails_done (id) VALUES (?1) ON CONFLICT DO NOTHING RETURNING id",
      )
        .bind(id)
        .first();
      if (!claimed) continue;
      await env.mail.send({ to: email, subject: "Welcome", text: "Good to have you.", key: id });
    } catch {
      message.retry();
    }
  }
}
