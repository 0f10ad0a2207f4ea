import { once } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { SignupRequest } from "@durable-lessons/types";
import { signupId } from "../../signup-id.ts";

export async function consume(
  batch: MessageBatch<SignupRequest>,
  env: OutsideWorld & { DB: D1Database },
) {
  for (const message of batch.messages) {
    const { email } = message.body;
    const id = await signupId(email);
    await once(env.DB, id, () =>
      env.mail.send({ to: email, subject: "Welcome", text: "Good to have you." }),
    );
  }
}
