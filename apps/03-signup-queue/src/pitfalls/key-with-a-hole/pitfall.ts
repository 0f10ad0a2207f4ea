import { once } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import { LEASE, retry } from "../lease.ts";
import type { Signup } from "./signup.ts";

export async function consume(batch: MessageBatch, env: OutsideWorld & { DB: D1Database }) {
  for (const message of batch.messages) {
    try {
      const { team, member, email } = message.body as Signup;
      const key = `${team}-${member}-welcome`;
      const welcome = { to: email, subject: "Welcome", text: "Good to have you.", key };
      await once(env.DB, key, () => env.mail.send(welcome), LEASE);
    } catch (error) {
      retry(message, error);
    }
  }
}
