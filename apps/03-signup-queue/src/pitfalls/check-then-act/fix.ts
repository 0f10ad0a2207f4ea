import { claim, complete } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { SignupMessage } from "@durable-lessons/types";

type Env = OutsideWorld & { DB: D1Database };

export async function consume(batch: MessageBatch<SignupMessage>, env: Env) {
  await Promise.all(batch.messages.map((message) => welcome(message, env)));
}

async function welcome(message: Message<SignupMessage>, env: Env) {
  const { id, email } = message.body;
  const [claimed] = await claim(env.DB, [{ key: id }], { leaseMs: 60_000 });
  if (claimed?.state === "in progress") return message.retry({ delaySeconds: 1 });
  if (claimed?.state !== "claimed") return;
  await env.mail.send({ to: email, subject: "Welcome", text: "Good to have you." });
  await complete(env.DB, [claimed]);
}
