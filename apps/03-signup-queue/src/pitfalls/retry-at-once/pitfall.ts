import type { OutsideWorld } from "@durable-lessons/outside-world";
import { signupMessage } from "@durable-lessons/types";
import * as v from "valibot";

export async function consume(batch: MessageBatch, env: OutsideWorld) {
  for (const message of batch.messages) {
    try {
      const { id, email } = v.parse(signupMessage, message.body);
      await env.mail.send({ to: email, subject: "Welcome", text: "Good to have you.", key: id });
    } catch {
      message.retry();
    }
  }
}
