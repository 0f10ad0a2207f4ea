import type { Context, MiddlewareHandler } from "hono";

/** What opens the routes that move an order. */
function configuredToken(env: Env & { REVIEW_TOKEN?: string }): string | undefined {
  // `LAB` is a literal in the generated types, and `on` wherever somebody develops.
  const lab: string = env.LAB;
  return env.REVIEW_TOKEN ?? (lab === "on" ? env.DEV_ONLY_REVIEW_TOKEN : undefined);
}

/** Answers 401 without the right Bearer token, and 503 as long as there is none: the routes are never open. */
export const requireToken: MiddlewareHandler = async (c: Context<{ Bindings: Env }>, next) => {
  const token = configuredToken(c.env);
  if (!token) {
    const error = "No token is configured. Set one: wrangler secret put REVIEW_TOKEN";
    return c.json({ error }, 503);
  }
  const given = /^Bearer +(\S+) *$/i.exec(c.req.header("authorization") ?? "")?.[1];
  if (given === undefined || !(await isSame(given, token))) {
    const error = "Send the header Authorization: Bearer, with the review token.";
    return c.json({ error }, 401, { "www-authenticate": "Bearer" });
  }
  await next();
};

/** Compares digests, which have one length, in a time that does not depend on where they differ. */
async function isSame(a: string, b: string): Promise<boolean> {
  const [first, second] = await Promise.all([digest(a), digest(b)]);
  return crypto.subtle.timingSafeEqual(first, second);
}

const digest = (text: string) => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
