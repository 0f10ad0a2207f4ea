import { signupRequest } from "@durable-lessons/types";
import { issuesAsText } from "@durable-lessons/worker-helpers/http";
import * as v from "valibot";
import { signupId } from "../../signup-id.ts";

export { consume } from "./consumer.ts";

export async function handle(request: Request, env: { QUEUE: Queue }): Promise<Response> {
  const signup = v.safeParse(signupRequest, await request.json().catch(() => null));
  if (!signup.success) {
    return Response.json({ error: issuesAsText(signup.issues) }, { status: 400 });
  }
  const { email } = signup.output;
  const id = await signupId(email);
  await env.QUEUE.send({ id, email });
  return Response.json({ queued: true, id }, { status: 202 });
}
