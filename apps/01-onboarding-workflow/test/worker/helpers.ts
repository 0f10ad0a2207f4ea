import { instanceIdFor } from "@durable-lessons/idempotency";
import { evidenceOf } from "@durable-lessons/outside-world";
import { anotherCaller } from "@durable-lessons/test-kit/caller";
import { env, exports } from "cloudflare:workers";
import type { OnboardingRequest } from "../../src/schemas.ts";

/** A user that no other test has. */
export const newUser = (fields: Partial<OnboardingRequest> = {}): OnboardingRequest => ({
  userId: `u_${crypto.randomUUID().replaceAll("-", "")}`,
  email: `${crypto.randomUUID()}@example.com`,
  planType: "pro",
  ...fields,
});

/** The instance id that the lesson gives to a user. */
export const idOf = (user: OnboardingRequest) => instanceIdFor("onboard", user.userId);

/** Sends a request to the Worker, JSON unless the body is text already; with the token unless another one is given, or null. */
export async function send(
  method: string,
  path: string,
  body?: unknown,
  token: string | null = env.OPERATOR_TOKEN,
) {
  const response = await exports.default.fetch(`https://lesson.example${path}`, {
    method,
    headers: {
      ...anotherCaller(),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: await response.json<Record<string, unknown>>(),
  };
}

/** The effects of an instance, by kind. */
export const evidence = (instanceId: string) => evidenceOf(env.WORLD, instanceId);

/** How many records the lesson's own table has of a user. */
export async function usersSaved({ userId }: OnboardingRequest): Promise<number | undefined> {
  const row = await env.DB.prepare("SELECT COUNT(*) AS n FROM users WHERE user_id = ?1")
    .bind(userId)
    .first<{ n: number }>();
  return row?.n;
}
