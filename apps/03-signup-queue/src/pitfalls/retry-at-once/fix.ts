import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { SignupRequest } from "@durable-lessons/types";

export async function consume(batch: MessageBatch<SignupRequest>, env: OutsideWorld) {
  for (const message of batch.messages) {
    const { email } = message.body;
    try {
      await env.mail.send({ to: email, subject: "Welcome", text: "Good to have you." });
    } catch {
      message.retry({ delaySeconds: 2 ** (message.attempts - 1) });
    }
  }
}
