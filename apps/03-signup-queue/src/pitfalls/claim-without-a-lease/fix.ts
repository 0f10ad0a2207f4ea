import { claim, complete } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import { signupMessage } from "@durable-lessons/types";
import * as v from "valibot";
import { LEASE, untilItsEnd } from "../lease.ts";

export async function consume(batch: MessageBatch, env: OutsideWorld & { DB: D1Database }) {
  for (const message of batch.messages) {
    try {
      const { id, email } = v.parse(signupMessage, message.body);
      const [claimed] = await claim(env.DB, [{ key: id }], LEASE);
      if (claimed?.state === "in progress") message.retry(untilItsEnd(claimed.retryAfterMs));
      if (claimed?.state !== "claimed") continue;
      await env.mail.send({ to: email, subject: "Welcome", text: "Good to have you.", key: id });
      await complete(env.DB, [claimed]);
    } catch {
      message.retry();
    }
  }
}
