import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { SignupMessage } from "@durable-lessons/types";

/** What both variants do with a signup. */
export async function consume(batch: MessageBatch<SignupMessage>, env: OutsideWorld) {
  for (const message of batch.messages) {
    const { email } = message.body;
    try {
      await env.mail.send({ to: email, subject: "Welcome", text: "Good to have you." });
    } catch {
      message.retry();
    }
  }
}
