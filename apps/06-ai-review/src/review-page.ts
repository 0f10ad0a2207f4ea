import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { DraftRow } from "./drafts.ts";

const STYLE = `
  :root { color-scheme: light dark; font: 1.1rem/1.5 system-ui, sans-serif; }
  body { max-width: 42rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
  pre { white-space: pre-wrap; font: inherit; border: 1px solid; border-radius: 0.5rem; padding: 1rem; }
  button { font: inherit; padding: 0.5rem 1rem; margin: 0 0.5rem 0.5rem 0; }
`;

/** The draft with two buttons. It posts to its own address, link included, and needs no script. */
export const reviewPage = (c: Context, { draft_id, model, text, sha256, expires_at }: DraftRow) =>
  page(
    c,
    200,
    `Review of draft ${draft_id}`,
    `<p>Written by <strong>${escape(model ?? "")}</strong>. If you approve it, this exact text is published.</p>
<pre id="draft">
${escape(text ?? "")}</pre>
<form method="post">
<button name="decision" value="approve">Approve and publish</button>
<button name="decision" value="reject">Reject</button>
</form>
<p><small>SHA-256 of the text: <code>${sha256}</code>. You can decide once, until ${new Date(expires_at ?? 0).toISOString()}.</small></p>`,
  );

/** A page that says one thing. */
export const messagePage = (
  c: Context,
  status: ContentfulStatusCode,
  title: string,
  message: string,
) => page(c, status, title, `<p>${escape(message)}</p>`);

/** Everything but letters of markup: also CR, which a browser would make a LF of, so that it shows another text. */
const escape = (text: string) =>
  text.replaceAll(/[&<>"'\r]/g, (character) => `&#${character.charCodeAt(0)};`);

function page(c: Context, status: ContentfulStatusCode, title: string, body: string) {
  const nonce = crypto.randomUUID();
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escape(title)}</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<main>
<h1>${escape(title)}</h1>
${body}
</main>
</body>
</html>
`;
  return c.html(html, status, {
    // Nothing runs and nothing is loaded, whatever the text holds; nobody frames the buttons.
    "content-security-policy": [
      "default-src 'none'",
      `style-src 'nonce-${nonce}'`,
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
    "cache-control": "no-store",
    // The address is the link: it must not go anywhere with a click.
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  });
}
