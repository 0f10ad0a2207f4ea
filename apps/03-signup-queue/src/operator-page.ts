import type { Context } from "hono";
import page from "./operator-page.html";

/** The page of whoever decides about dead letters. It holds no data: it fetches them with the token that is typed in. */
export function operatorPage(c: Context) {
  const nonce = crypto.randomUUID();
  return c.html(page.replaceAll("NONCE", nonce), 200, {
    // Nothing runs but the page's own script, whatever a dead letter holds.
    "content-security-policy": [
      "default-src 'none'",
      `script-src 'nonce-${nonce}'`,
      `style-src 'nonce-${nonce}'`,
      "connect-src 'self'",
      "require-trusted-types-for 'script'",
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  });
}
