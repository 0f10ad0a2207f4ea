import type { OutsideWorld } from "@durable-lessons/outside-world";
import { signupMessage, signupRequest } from "@durable-lessons/types";
import { issuesAsText } from "@durable-lessons/worker-helpers/http";
import * as v from "valibot";
import { signupId } from "../../signup-id.ts";

export async function handle(request: Request, env: { QUEUE: Queue }): Promise<Response> {
  const signup = v.safeParse(signupRequest, await request.json().catch(() => null));
  if (!signup.success) {
    return Response.json({ error: issuesAsText(signup.issues) }, { status: 400 });
  }
  const { email } = signup.output;
  const id = await signupId(email);
  await env.QUEUE.send({ id, email });
  return Response.json({ accepted: true }, { status: 202 });
}

export async function consume(batch: MessageBatch, env: OutsideWorld) {
  for (const message of batch.messages) {
    try {
      const { id, email } = v.parse(signupMessage, message.body);
      await env.mail.send({ to: email, subject: "Welcome", text: "Good to have you.", key: id });
    } catch {
      message.retry();
    }
  }
}
