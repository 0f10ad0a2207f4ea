/**
 * How every lesson's Worker reads a JSON body and answers to a bad one: JSON with the field that is wrong, never a 500.
 */
import type { Context, ErrorHandler, MiddlewareHandler, NotFoundHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HTTPException } from "hono/http-exception";
import * as v from "valibot";

/** Largest body that the lessons accept, in bytes. */
export const MAX_BODY_BYTES = 16 * 1024;

/** Answers 413 to a body that is larger than `maxBytes`, before anything of it is read. */
export const limitBody = (maxBytes = MAX_BODY_BYTES): MiddlewareHandler =>
  bodyLimit({
    maxSize: maxBytes,
    onError: (c) => c.json({ error: `The body is larger than ${maxBytes} bytes.` }, 413),
  });

/**
 * Most brackets that may stand open at once in a body. Far more than any of ours has, and far less than what cannot be
 * handed on: from some thousands the local queue fails on a message, and takes its neighbours along (measured locally).
 */
const MAX_DEPTH = 32;

/**
 * Reads and validates the JSON body; the handler takes it with `c.req.valid("json")`. Answers 415 to a body that does not
 * say it is JSON in UTF-8, 400 to one that is not, and 400 with what is wrong where to one that the schema refuses.
 *
 * @param schema what the body must be
 */
export const jsonBody =
  <Schema extends v.GenericSchema>(
    schema: Schema,
  ): MiddlewareHandler<
    object,
    string,
    { in: { json: v.InferInput<Schema> }; out: { json: v.InferOutput<Schema> } }
  > =>
  async (c, next) => {
    if (!saysJson(c.req.header("content-type"))) {
      const error = "Send JSON in UTF-8, with the header content-type: application/json.";
      return c.json({ error }, 415);
    }
    const read = readJson(await c.req.arrayBuffer());
    if ("error" in read) return c.json(read, 400);
    const result = v.safeParse(schema, read.value);
    if (!result.success) {
      const issues = result.issues.map((issue) => ({
        field: v.getDotPath(issue) ?? "",
        message: issue.message,
      }));
      return c.json({ error: issuesAsText(result.issues), issues }, 400);
    }
    c.req.addValidatedData("json", result.output as object);
    return next();
  };

function saysJson(contentType = ""): boolean {
  const [type = "", ...parameters] = contentType.toLowerCase().split(";");
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith("charset="));
  return (
    /^application\/([a-z.-]+\+)?json$/.test(type.trim()) &&
    (charset === undefined || /^charset="?utf-?8"?$/.test(charset))
  );
}

/** A lenient decoder would put another letter in the place of what it cannot read, in somebody's name. */
function readJson(bytes: ArrayBuffer): { value: unknown } | { error: string } {
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return { error: "The body is not UTF-8." };
  }
  if (depthOf(text) > MAX_DEPTH) {
    return { error: `The body is nested deeper than ${MAX_DEPTH} levels.` };
  }
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { error: "Malformed JSON in request body" };
  }
}

/** How many brackets of a JSON text stand open at once, at most. Those in its strings do not count. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}]/gs)) {
    if (token === "[" || token === "{") deepest = Math.max(deepest, ++depth);
    if (token === "]" || token === "}") depth -= 1;
  }
  return deepest;
}

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

/** Fewest characters of a token that opens a route. Nobody guesses one of them that was made at random. */
export const MIN_TOKEN_LENGTH = 24;

/**
 * Why a token cannot be used, or null: a short one can be guessed, and one with a space in it can never be sent.
 *
 * @param token the secret's value
 */
export function obstacleToToken(token: string | undefined): string | null {
  if (!token) return "is not set";
  if (token.length < MIN_TOKEN_LENGTH) return `is shorter than ${MIN_TOKEN_LENGTH} characters`;
  return /^[\x21-\x7E]+$/.test(token)
    ? null
    : "has a space or another character that no header can carry";
}

/** Does a request carry this token? */
export async function hasToken(c: Context, token: string | undefined): Promise<boolean> {
  const given = bearerToken(c);
  if (given === undefined || !token || obstacleToToken(token)) return false;
  return isSameSecret(given, token);
}

/**
 * Answers 401 without the right Bearer token, and 503 as long as there is none that is fit to be one: the routes are never open.
 *
 * @param name the secret's name
 */
export const requireToken =
  (name: string): MiddlewareHandler =>
  async (c, next) => {
    const token = (c.env as Record<string, string | undefined>)[name];
    const obstacle = obstacleToToken(token);
    if (obstacle) {
      const error = `The secret ${name} ${obstacle}. Set a long random one, such as that of openssl rand -hex 32: wrangler secret put ${name}`;
      return c.json({ error }, 503);
    }
    if (!(await hasToken(c, token))) {
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

/**
 * Turns an error into JSON: what Hono refused with its own status; as 409 what the platform refuses to do to an instance,
 * such as to terminate one that is over; all else as 500 without its inner workings.
 */
export const errorAsJson: ErrorHandler = (error, c) => {
  if (error instanceof HTTPException) {
    const wait = error.res?.headers.get("retry-after");
    return c.json({ error: error.message }, error.status, wait ? { "retry-after": wait } : {});
  }
  // "(instance.cannot_terminate) Cannot terminate instance since it is on a finite state" (measured locally)
  const [, refusal] = /\binstance\.cannot_(\w+)/.exec(error.message) ?? [];
  if (refusal) {
    const what = refusal.replaceAll("_", " ");
    return c.json(
      { error: `The platform cannot ${what} this instance in its present state.` },
      409,
    );
  }
  // Worker logs are where an operator looks: `wrangler tail`, or observability.
  console.error(error);
  return c.json({ error: "Something went wrong. See the Worker's log." }, 500);
};

/**
 * Makes what answers 503 with `Retry-After`, where something that was asked for cannot be done now, or nobody knows whether it
 * has been. The cause goes into the Worker's log.
 *
 * @param seconds after which it may be sent again
 * @param say what the client is told
 */
export const unavailableFor =
  (seconds: number, say: (wait: string) => string) => (c: Context, cause: unknown) => {
    console.error(cause);
    return c.json({ error: say(`${seconds} seconds`) }, 503, { "retry-after": String(seconds) });
  };

/** Answers 404 as JSON. */
export const notFoundAsJson: NotFoundHandler = (c) =>
  c.json({ error: `There is nothing at ${c.req.method} ${c.req.path}.` }, 404);
