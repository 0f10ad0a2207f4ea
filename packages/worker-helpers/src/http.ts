/**
 * How every lesson's Worker reads a JSON body and answers to a bad one: JSON with the field that is wrong, never a 500.
 */
import { sValidator } from "@hono/standard-validator";
import type { Context, ErrorHandler, MiddlewareHandler, NotFoundHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HTTPException } from "hono/http-exception";
import type * as v from "valibot";

/** Largest body that the lessons accept, in bytes. */
export const MAX_BODY_BYTES = 16 * 1024;

/** Answers 413 to a body that is larger than `maxBytes`, before anything of it is read. */
export const limitBody = (maxBytes = MAX_BODY_BYTES): MiddlewareHandler =>
  bodyLimit({
    maxSize: maxBytes,
    onError: (c) => c.json({ error: `The body is larger than ${maxBytes} bytes.` }, 413),
  });

/** Answers 415 to a body that does not say it is JSON. A Worker reads it as JSON only then. */
export const expectJson: MiddlewareHandler = async (c, next) => {
  const type = c.req.header("content-type") ?? "";
  if (!/^application\/([a-z.-]+\+)?json\s*(;|$)/i.test(type)) {
    return c.json({ error: "Send JSON, with the header content-type: application/json." }, 415);
  }
  await next();
};

/**
 * Validates the JSON body; the handler reads it with `c.req.valid("json")`. Answers 400 with what is wrong where.
 *
 * @param schema what the body must be
 */
export const jsonBody = <Schema extends v.GenericSchema>(schema: Schema) =>
  sValidator("json", schema, (result, c) => {
    if (result.success) return;
    const issues = result.error.map(({ message, path = [] }) => ({
      field: path.map((key) => String(typeof key === "object" ? key.key : key)).join("."),
      message,
    }));
    return c.json({ error: issues.map(({ message }) => message).join("; "), issues }, 400);
  });

/** What is wrong with a value, in one line: for a message that no client waits for. */
export const issuesAsText = (issues: readonly v.BaseIssue<unknown>[]): string =>
  issues.map((issue) => issue.message).join("; ");

/** The token of an `Authorization: Bearer` header, or undefined. */
export const bearerToken = (c: Context): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(c.req.header("authorization") ?? "")?.[1];

/** Compares digests, which have one length, in a time that does not depend on where they differ. */
export async function isSameSecret(a: string, b: string): Promise<boolean> {
  const digest = (text: string) => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const [first, second] = await Promise.all([digest(a), digest(b)]);
  return crypto.subtle.timingSafeEqual(first, second);
}

/**
 * Answers 401 without the right Bearer token, and 503 as long as there is none: the routes are never open.
 *
 * @param name the secret's name
 */
export const requireToken =
  (name: string): MiddlewareHandler =>
  async (c, next) => {
    const token = (c.env as Record<string, string | undefined>)[name];
    if (!token) {
      const error = `No token is configured. Set one: wrangler secret put ${name}`;
      return c.json({ error }, 503);
    }
    const given = bearerToken(c);
    if (given === undefined || !(await isSameSecret(given, token))) {
      const error = `Send the header Authorization: Bearer, with the token ${name}.`;
      return c.json({ error }, 401, { "www-authenticate": "Bearer" });
    }
    await next();
  };

/** Answers 405 with the methods that there are. Register it after the route's own methods. */
export const onlyMethods =
  (...methods: string[]) =>
  (c: Context) =>
    c.json({ error: `Use ${methods.join(" or ")} here.` }, 405, { allow: methods.join(", ") });

/** Turns an error into JSON: what Hono refused with its own status, all else as 500 without its inner workings. */
export const errorAsJson: ErrorHandler = (error, c) => {
  if (error instanceof HTTPException) return c.json({ error: error.message }, error.status);
  // Worker logs are where an operator looks: `wrangler tail`, or observability.
  console.error(error);
  return c.json({ error: "Something went wrong here. It is in the Worker's log." }, 500);
};

/** Answers 404 as JSON. */
export const notFoundAsJson: NotFoundHandler = (c) =>
  c.json({ error: `There is nothing at ${c.req.method} ${c.req.path}.` }, 404);
