import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { SignupMessage } from "@durable-lessons/types";

type Env = OutsideWorld & { DB: D1Database };

export async function consume(batch: MessageBatch<SignupMessage>, env: Env) {
  await Promise.all(batch.messages.map((message) => welcome(message, env)));
}

async function welcome(message: Message<SignupMessage>, env: Env) {
  const { id, email } = message.body;
  const done = await env.DB.prepare("SELECT id FROM mails_done WHERE id = ?1").bind(id).first();
  if (done) return;
  await env.mail.send({ to: email, subject: "Welcome", text: "Good to have you." });
  await env.DB.prepare("INSERT INTO mails_done (id) VALUES (?1) ON CONFLICT DO NOTHING")
    .bind(id)
    .run();
}
