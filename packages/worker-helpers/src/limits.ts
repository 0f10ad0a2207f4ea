/**
 * How often a stranger may ask: by the platform's own `ratelimits` binding, which counts at each of Cloudflare's locations by
 * itself, and lets a little more through than its limit ("Rate Limiting"). It slows a flood down. It is no account: who must
 * not get in at all needs a token, and a form that people fill in is better off with Turnstile.
 */
import type { Context, MiddlewareHandler } from "hono";
import { HTTPException } from "hono/http-exception";

/** The longest period that a limit can have ("Rate Limiting"): after it a caller may ask again. */
const PERIOD_SECONDS = 60;

/**
 * Counts a request against a limit.
 *
 * @param limit the binding
 * @param key whom or what the limit protects; each key is counted by itself
 * @param what is asked for too often, for the message
 * @throws HTTPException with 429 and `Retry-After` where it is one too many: `errorAsJson` answers it
 */
export async function countAgainst(limit: RateLimit, key: string, what: string): Promise<void> {
  const { success } = await limit.limit({ key });
  if (success) return;
  const message = `Too many requests ${what}. Try again in ${PERIOD_SECONDS} seconds.`;
  const headers = { "retry-after": String(PERIOD_SECONDS) };
  throw new HTTPException(429, { message, res: new Response(message, { status: 429, headers }) });
}

/**
 * Counts a request against the limit of its caller.
 *
 * @param limit the binding
 * @throws HTTPException as {@link countAgainst}
 */
export const limitCaller = (limit: RateLimit, c: Context): Promise<void> =>
  countAgainst(limit, callerOf(c), "from your address");

/** The same by the binding `PER_CALLER`, before anything of a request is read. */
export const limitCallers: MiddlewareHandler<{ Bindings: { PER_CALLER: RateLimit } }> = async (
  c,
  next,
) => {
  await limitCaller(c.env.PER_CALLER, c);
  await next();
};

/**
 * Counts a mail against the limit of its recipient, whoever asks for it. All spellings that a mail server may take for one mailbox
 * count as one: other letters' case, what stands behind a `+`, a domain in the letters of DNS. Two people who share a count wait
 * for a minute; one whose mailbox had many spellings would have no limit.
 *
 * @param limit the binding
 * @param email a valid address
 * @throws HTTPException as {@link countAgainst}
 */
export async function limitRecipient(limit: RateLimit, email: string): Promise<void> {
  const at = email.lastIndexOf("@");
  const [mailbox = ""] = email.slice(0, at).normalize("NFKC").toLowerCase().split("+");
  const { hostname } = new URL(`http://${email.slice(at + 1)}`);
  await countAgainst(limit, `${mailbox}@${hostname}`, "for this email address");
}

/**
 * The address that a request comes from. Cloudflare sets this header, and takes away what a client has put there ("HTTP request
 * headers"); the local runtime leaves a client's value (measured locally). Who has one IPv6 address has a whole /64 of them.
 */
export function callerOf(c: Context): string {
  const address = c.req.header("cf-connecting-ip") ?? "unknown";
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const groups = (part = "") => part.split(":").filter(Boolean);
  const [first, last] = [groups(head), groups(tail)];
  const zeros = tail === undefined ? 0 : 8 - first.length - last.length;
  const all = [...first, ...Array.from({ length: Math.max(zeros, 0) }, () => "0"), ...last];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}
