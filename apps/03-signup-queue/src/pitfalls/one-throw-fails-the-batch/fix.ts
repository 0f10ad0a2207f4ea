import type { OutsideWorld } from "@durable-lessons/outside-world";

type Signup = { email: string | null };

export async function consume(batch: MessageBatch<Signup>, env: OutsideWorld) {
  for (const message of batch.messages) {
    try {
      const { email } = message.body;
      if (!email) throw new Error("There is no address.");
      await env.mail.send({ to: email, subject: "Welcome", text: "Good to have you." });
    } catch {
      message.retry();
    }
  }
}
