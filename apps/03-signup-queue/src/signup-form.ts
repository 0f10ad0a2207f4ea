import { signupRequest } from "@durable-lessons/types";
import { issuesAsText } from "@durable-lessons/worker-helpers/http";
import { limitCaller } from "@durable-lessons/worker-helpers/limits";
import { type Context, Hono } from "hono";
import { html, raw } from "hono/html";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import * as v from "valibot";
import { pageHeaders } from "./page-headers.ts";
import { signUp } from "./sign-up.ts";

const STYLE = `
  :root { color-scheme: light dark; font: 1.1rem/1.5 system-ui, sans-serif; }
  body { max-width: 30rem; margin: 2rem auto; padding: 0 1rem; }
  label, input { display: block; width: 100%; box-sizing: border-box; }
  input, button { font: inherit; padding: 0.5rem; margin-bottom: 1rem; }
`;

/**
 * Sends the form without leaving the page. Without it the browser sends it, and the answer is this page again: all that is lost
 * is what somebody is typing elsewhere.
 */
const SCRIPT = `
  const form = document.querySelector("form");
  const status = document.querySelector("[role=status]");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { email, name } = Object.fromEntries(new FormData(form));
    status.textContent = "One moment …";
    try {
      const response = await fetch(form.action, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(name ? { email, name } : { email }),
      });
      const answer = await response.json();
      status.textContent = response.ok ? form.dataset.thanks : answer.error;
      if (response.ok) form.reset();
    } catch {
      status.textContent = "There was no answer. Send it again: you get one email.";
    }
  });
`;

const THANKS = "Thank you. An email is on its way to you.";

/** What somebody has typed, and what is wrong with it or became of it. */
interface Typed {
  email?: string;
  name?: string;
  message?: string;
}

/** The page with the form. It works without a script; with one it answers in place. */
function page(
  c: Context,
  status: ContentfulStatusCode = 200,
  { email = "", name = "", message = "" }: Typed = {},
) {
  const nonce = crypto.randomUUID();
  const body = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Sign up</title>
        <style nonce="${nonce}">
          ${raw(STYLE)}
        </style>
      </head>
      <body>
        <main>
          <h1>Sign up</h1>
          <p role="status">${message}</p>
          <form method="post" action="/signup" data-thanks="${THANKS}">
            <label for="email">Email address</label>
            <input
              id="email"
              name="email"
              type="text"
              inputmode="email"
              autocomplete="email"
              required
              value="${email}"
            />
            <label for="name">Name (optional)</label>
            <input id="name" name="name" autocomplete="name" maxlength="100" value="${name}" />
            <button>Sign up</button>
          </form>
        </main>
        <script nonce="${nonce}" type="module">
          ${raw(SCRIPT)};
        </script>
      </body>
    </html> `;
  return c.html(body, status, pageHeaders(nonce, "'self'"));
}

const FORM = /^application\/x-www-form-urlencoded\s*(;|$)/i;

/** The page, and the form as a browser sends it by itself. */
export const formRoutes = new Hono<{ Bindings: ProducerEnv }>();

formRoutes.get("/", (c) => page(c, 200, c.req.query("done") ? { message: THANKS } : {}));

formRoutes.post("/", async (c, next) => {
  if (!FORM.test(c.req.header("content-type") ?? "")) return next();
  const form = new URLSearchParams(await c.req.text());
  const email = form.get("email") ?? "";
  const name = form.get("name") ?? "";
  const typed = { email, ...(name ? { name } : {}) };
  const signup = v.safeParse(signupRequest, typed);
  if (!signup.success) return page(c, 400, { ...typed, message: issuesAsText(signup.issues) });
  try {
    await limitCaller(c.env.PER_CALLER, c);
    await signUp(c.env, signup.output);
  } catch (error) {
    const isTooMany = error instanceof HTTPException && error.status === 429;
    if (!isTooMany) console.error(error);
    const message = isTooMany
      ? error.message
      : "That did not work. Send it again: you get one email.";
    c.header("retry-after", "60");
    return page(c, isTooMany ? 429 : 503, { ...typed, message });
  }
  // To another address, so that going back or reloading sends nothing again.
  return c.redirect("/signup?done=yes", 303);
});
