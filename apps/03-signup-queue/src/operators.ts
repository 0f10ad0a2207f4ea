import { bearerToken, isSameSecret, obstacleToToken } from "@durable-lessons/worker-helpers/http";
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
  for (const { name, token } of operators) {
    const obstacle = obstacleToToken(token);
    if (obstacle)
      return c.json({ error: `The token of ${name} in ADMIN_TOKENS ${obstacle}.` }, 503);
  }
  const given = bearerToken(c) ?? "";
  const matches = await Promise.all(
    operators.map(async ({ name, token }) =>
      (await isSameSecret(given, token)) ? name : undefined,
    ),
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
