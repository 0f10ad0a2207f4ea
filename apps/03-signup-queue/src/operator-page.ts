import type { Context } from "hono";
import page from "./operator-page.html";
import { pageHeaders } from "./page-headers.ts";

/** The page of whoever decides about dead letters. It holds no data: it fetches them with the token that is typed in. */
export function operatorPage(c: Context) {
  const nonce = crypto.randomUUID();
  return c.html(page.replaceAll("NONCE", nonce), 200, pageHeaders(nonce, "'none'"));
}
