import type { SignupRequest } from "@durable-lessons/types";
import { signupId } from "../../signup-id.ts";

export { consume } from "./consumer.ts";

export async function handle(request: Request, env: { QUEUE: Queue }): Promise<Response> {
  const { email } = await request.json<SignupRequest>();
  const id = await signupId(email);
  await env.QUEUE.send({ id, email });
  return Response.json({ queued: true, id }, { status: 202 });
}
