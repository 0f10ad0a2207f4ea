import type { OutsideWorld } from "@durable-lessons/outside-world";
import { signupMessage } from "@durable-lessons/types";
import * as v from "valibot";

type Env = OutsideWorld & { DB: D1Database };

export async function consume(batch: MessageBatch, env: Env) {
  await Promise.all(
    batch.messages.map((message) => welcome(message, env).catch(() => message.retry())),
  );
}

async function welcome(message: Message, env: Env) {
  const { id, email } = v.parse(signupMessage, message.body);
  const done = await env.DB.prepare("SELECT id FROM mails_done WHERE id = ?1").bind(id).first();
  if (done) return;
  await env.mail.send({ to: email, subject: "Welcome", text: "Good to have you." });
  await env.DB.prepare("INSERT INTO mails_done (id) VALUES (?1) ON CONFLICT DO NOTHING")
    .bind(id)
    .run();
}
