import { once } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import { signupMessage } from "@durable-lessons/types";
import * as v from "valibot";
import { LEASE, retry } from "../lease.ts";

export async function consume(batch: MessageBatch, env: OutsideWorld & { DB: D1Database }) {
  for (const message of batch.messages) {
    try {
      const { id, email } = v.parse(signupMessage, message.body);
      const welcome = { to: email, subject: "Welcome", text: "Good to have you." };
      await once(env.DB, id, () => env.mail.send(welcome), LEASE);
    } catch (error) {
      retry(message, error);
    }
  }
}
