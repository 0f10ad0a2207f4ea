import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { OnboardingRequest } from "../../schemas.ts";

export async function handle(request: Request, env: OutsideWorld): Promise<Response> {
  const { userId, email } = await request.json<OnboardingRequest>();
  await env.accounts.open({ userId });
  await env.mail.send({ to: email, subject: "Welcome", text: `Hello ${userId}` });
  return Response.json({ userId });
}
