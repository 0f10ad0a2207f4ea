import { once } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { SignupMessage } from "@durable-lessons/types";

/** What both variants put their messages before. */
export async function consume(
  batch: MessageBatch<SignupMessage>,
  env: OutsideWorld & { DB: D1Database },
) {
  for (const message of batch.messages) {
    const { id, email } = message.body;
    await once(env.DB, id, () =>
      env.mail.send({ to: email, subject: "Welcome", text: "Good to have you." }),
    );
  }
}
