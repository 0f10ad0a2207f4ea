import type { OutsideWorld } from "@durable-lessons/outside-world";
import { issuesAsText } from "@durable-lessons/worker-helpers/http";
import * as v from "valibot";
import { onboardingRequest } from "../../schemas.ts";

export async function handle(request: Request, env: OutsideWorld): Promise<Response> {
  const user = v.safeParse(onboardingRequest, await request.json().catch(() => null));
  if (!user.success) return Response.json({ error: issuesAsText(user.issues) }, { status: 400 });

  const { userId, email } = user.output;
  await env.accounts.open({ userId });
  await env.mail.send({ to: email, subject: "Welcome", text: `Hello ${userId}` });
  return Response.json({ userId });
}
