import { once } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import { signupRequest } from "@durable-lessons/types";
import * as v from "valibot";
import { LEASE, retry } from "../lease.ts";

export async function consume(batch: MessageBatch, env: OutsideWorld & { DB: D1Database }) {
  for (const message of batch.messages) {
    try {
      const { email } = v.parse(signupRequest, message.body);
      const id = `welcome-${email.toLowerCase().replace(/\+.*@/, "@")}`;
      const welcome = { to: email, subject: "Welcome", text: "Good to have you.", key: id };
      await once(env.DB, id, () => env.mail.send(welcome), LEASE);
    } catch (error) {
      retry(message, error);
    }
  }
}
