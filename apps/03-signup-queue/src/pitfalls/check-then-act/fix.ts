import { claim, complete } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import { signupMessage } from "@durable-lessons/types";
import * as v from "valibot";
import { LEASE, untilItsEnd } from "../lease.ts";

type Env = OutsideWorld & { DB: D1Database };

export async function consume(batch: MessageBatch, env: Env) {
  await Promise.all(
    batch.messages.map((message) => welcome(message, env).catch(() => message.retry())),
  );
}

async function welcome(message: Message, env: Env) {
  const { id, email } = v.parse(signupMessage, message.body);
  const [claimed] = await claim(env.DB, [{ key: id }], LEASE);
  if (claimed?.state === "in progress") return message.retry(untilItsEnd(claimed.retryAfterMs));
  if (claimed?.state !== "claimed") return;
  await env.mail.send({ to: email, subject: "Welcome", text: "Good to have you." });
  await complete(env.DB, [claimed]);
}
