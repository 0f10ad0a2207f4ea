import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { anotherCaller } from "@durable-lessons/test-kit/caller";
import { env } from "cloudflare:workers";
import producer from "../../src/producer.ts";

interface Options {
  token?: string;
  contentType?: string;
  /** Bindings in place of the Worker's own: a queue that is away, a secret that was never set. */
  env?: Partial<ProducerEnv>;
}

/** Sends a request to the producer, JSON unless the body is text already. */
export async function send(method: string, path: string, body?: unknown, options: Options = {}) {
  const { token, contentType = "application/json" } = options;
  const request = new Request<unknown, IncomingRequestCfProperties>(
    `https://lesson.example${path}`,
    {
      method,
      headers: {
        ...anotherCaller(),
        ...(body === undefined ? {} : { "content-type": contentType }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    },
  );
  const ctx = createExecutionContext();
  const response = await producer.fetch(request, { ...env, ...options.env }, ctx);
  await waitOnExecutionContext(ctx);
  return {
    status: response.status,
    headers: response.headers,
    body: await response.json<Record<string, unknown>>(),
  };
}
