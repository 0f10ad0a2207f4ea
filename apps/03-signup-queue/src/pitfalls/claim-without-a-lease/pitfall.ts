import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { SignupMessage } from "@durable-lessons/types";

export async function consume(
  batch: MessageBatch<SignupMessage>,
  env: OutsideWorld & { DB: D1Database },
) {
  for (const message of batch.messages) {
    const { id, email } = message.body;
    const claimed = await env.DB.prepare(
      "INSERT INTO mails_done (id) VALUES (?1) ON CONFLICT DO NOTHING RETURNING id",
    )
      .bind(id)
      .first();
    if (!claimed) continue;
    await env.mail.send({ to: email, subject: "Welcome", text: "Good to have you." });
  }
}
