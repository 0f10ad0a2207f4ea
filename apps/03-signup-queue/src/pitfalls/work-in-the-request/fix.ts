import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { SignupRequest } from "@durable-lessons/types";

export async function handle(request: Request, env: { QUEUE: Queue }): Promise<Response> {
  const { email } = await request.json<SignupRequest>();
  await env.QUEUE.send({ email });
  return Response.json({ accepted: true }, { status: 202 });
}

export async function consume(batch: MessageBatch<SignupRequest>, env: OutsideWorld) {
  for (const { body } of batch.messages) {
    const { email } = body;
    await env.mail.send({ to: email, subject: "Welcome", text: "Good to have you." });
  }
}
