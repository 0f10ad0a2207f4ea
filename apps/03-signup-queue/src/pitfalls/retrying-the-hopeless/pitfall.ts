import type { OutsideWorld } from "@durable-lessons/outside-world";
import { signupMessage } from "@durable-lessons/types";
import * as v from "valibot";

export async function consume(batch: MessageBatch, env: OutsideWorld) {
  for (const message of batch.messages) {
    try {
      const signup = v.safeParse(signupMessage, message.body);
      if (!signup.success) {
        message.retry();
        continue;
      }
      const { id, email } = signup.output;
      await env.mail.send({ to: email, subject: "Welcome", text: "Good to have you.", key: id });
    } catch {
      message.retry();
    }
  }
}
