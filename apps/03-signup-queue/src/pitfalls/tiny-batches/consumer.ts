import type { OutsideWorld } from "@durable-lessons/outside-world";
import { signupMessage } from "@durable-lessons/types";
import * as v from "valibot";

export async function consume(batch: MessageBatch, env: OutsideWorld) {
  await Promise.all(
    batch.messages.map((message) => welcome(message, env).catch(() => message.retry())),
  );
}

async function welcome({ body }: Message, env: OutsideWorld) {
  const { id, email } = v.parse(signupMessage, body);
  await env.mail.send({ to: email, subject: "Welcome", text: "Good to have you.", key: id });
}
