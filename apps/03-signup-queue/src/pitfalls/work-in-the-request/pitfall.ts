import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { SignupRequest } from "@durable-lessons/types";

export async function handle(request: Request, env: OutsideWorld): Promise<Response> {
  const { email } = await request.json<SignupRequest>();
  await env.mail.send({ to: email, subject: "Welcome", text: "Good to have you." });
  return Response.json({ accepted: true }, { status: 202 });
}
