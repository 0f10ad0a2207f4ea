import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { SignupRequest } from "@durable-lessons/types";

export async function consume(batch: MessageBatch<SignupRequest>, env: OutsideWorld) {
  const addresses = batch.messages.map(({ body }) => body.email);
  await Promise.all(
    addresses.map((email) =>
      env.mail.send({ to: email, subject: "Welcome", text: "Good to have you." }),
    ),
  );
}
