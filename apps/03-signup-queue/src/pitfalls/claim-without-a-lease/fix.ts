import { claim, complete } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { SignupMessage } from "@durable-lessons/types";

export async function consume(
  batch: MessageBatch<SignupMessage>,
  env: OutsideWorld & { DB: D1Database },
) {
  for (const message of batch.messages) {
    const { id, email } = message.body;
    const [claimed] = await claim(env.DB, [{ key: id }], { leaseMs: 1000 });
    if (claimed?.state === "in progress") message.retry({ delaySeconds: 1 });
    if (claimed?.state !== "claimed") continue;
    await env.mail.send({ to: email, subject: "Welcome", text: "Good to have you." });
    await complete(env.DB, [claimed]);
  }
}
