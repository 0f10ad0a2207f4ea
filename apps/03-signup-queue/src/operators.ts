import type { MiddlewareHandler } from "hono";

/** What a route behind {@link requireOperator} reads with `c.var`. */
export interface Operator {
  /** Whose token it was. */
  operator: string;
}

/** Answers 401 without the token of an operator, and 503 as long as none is configured: the routes are never open. */
export const requireOperator: MiddlewareHandler<{
  Bindings: ProducerEnv;
  Variables: Operator;
}> = async (c, next) => {
  const operators = parse(c.env.ADMIN_TOKENS);
  if (operators.length === 0) {
    const error =
      "No operator is configured. Set the secret to name:token, the token being long and random: " +
      "wrangler secret put ADMIN_TOKENS";
    return c.json({ error }, 503);
  }
  const given = /^Bearer +(\S+) *$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? "";
  const matches = await Promise.all(
    operators.map(async ({ name, token }) => ((await isSame(given, token)) ? name : undefined)),
  );
  const operator = matches.find((name) => name !== undefined);
  if (operator === undefined) {
    const error = "Send the header Authorization: Bearer, with your operator token.";
    return c.json({ error }, 401, { "www-authenticate": "Bearer" });
  }
  c.set("operator", operator);
  await next();
};

/** `ada:token bob:token`: a token has no space, a name no colon. */
function parse(secret: string | undefined): { name: string; token: string }[] {
  return [...(secret ?? "").matchAll(/([^\s:]+):(\S+)/g)].map(([, name = "", token = ""]) => ({
    name,
    token,
  }));
}

/** Compares digests, which have one length, in a time that does not depend on where they differ. */
async function isSame(a: string, b: string): Promise<boolean> {
  const [first, second] = await Promise.all([digest(a), digest(b)]);
  return crypto.subtle.timingSafeEqual(first, second);
}

const digest = (text: string) => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
