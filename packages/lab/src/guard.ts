/**
 * Who may ask a server on this machine for something: the site, and the lab in front of a lesson. A program of the reader's
 * and a page of that very server may; another machine, another site in the reader's browser, and a name that was pointed at
 * 127.0.0.1 (DNS rebinding) may not. Knows no runtime: it is read by Node.js and by Workers.
 */

/** What the guard looks at in a request. */
export interface GuardedRequest {
  method: string | undefined;
  /** Where it came from; a Worker is not told, and its `wrangler dev` listens on this machine's own addresses only. */
  remoteAddress?: string | undefined;
  /** By their names in small letters. */
  headers: Record<string, string | string[] | undefined>;
}

/** Why a request is refused. */
export interface Refusal {
  status: 403 | 405 | 415;
  error: string;
}

const LOOPBACK = new Set(["127.0.0.1", "::1", "::ffff:127.0.0.1"]);
const OWN_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;

const refused = (error: string): Refusal => ({ status: 403, error });

/**
 * Guards what a page may be made of, and whatever a lesson answers. A link from elsewhere, in a mail or on another page, may be
 * followed: a browser shows what comes to the reader, and to nobody else.
 *
 * @returns null for a request that may pass
 */
export function refusal(request: GuardedRequest): Refusal | null {
  return strangerRefusal(request) ?? (isFollowedLink(request) ? null : otherPageRefusal(request));
}

/**
 * Guards what runs code and kills processes: only a page of this very server may ask for that, and no link leads to it. A
 * form, which browsers send across origins without asking, cannot send JSON.
 *
 * @returns null for a request that may pass
 */
export function labRefusal(request: GuardedRequest): Refusal | null {
  const { method, headers } = request;
  const stranger = strangerRefusal(request) ?? otherPageRefusal(request);
  if (stranger) return stranger;
  if (headers["sec-fetch-site"] === "none" || headers["origin"] === "null") {
    return refused("The lab answers its own pages only, and no page without an Origin.");
  }
  if (method !== "POST") return { status: 405, error: "The lab takes POST." };
  const type = headers["content-type"];
  if (typeof type !== "string" || !/^application\/json\s*(;|$)/i.test(type)) {
    return { status: 415, error: "The lab takes application/json." };
  }
  return null;
}

function strangerRefusal({ headers: { host }, ...request }: GuardedRequest): Refusal | null {
  if ("remoteAddress" in request && !LOOPBACK.has(request.remoteAddress ?? "")) {
    return refused("This server answers its own machine only.");
  }
  if (typeof host !== "string" || !OWN_HOST.test(host)) {
    return refused("This server answers under 127.0.0.1 and localhost only.");
  }
  return null;
}

/** Is the reader brought here by a link, with a page of its own? A frame in another page is none. */
function isFollowedLink({ method, headers }: GuardedRequest): boolean {
  return (
    (method === "GET" || method === "HEAD") &&
    headers["sec-fetch-mode"] === "navigate" &&
    headers["sec-fetch-dest"] === "document"
  );
}

function otherPageRefusal({ headers }: GuardedRequest): Refusal | null {
  const { host, origin } = headers;
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") {
    return refused("This server answers its own pages only: Sec-Fetch-Site says another one.");
  }
  // A page that tells nobody where it is, as one with a secret in its address, keeps its Origin to itself too.
  const isOwn =
    origin === undefined ||
    origin === `http://${String(host)}` ||
    (origin === "null" && site === "same-origin");
  return isOwn
    ? null
    : refused("This server answers its own pages only: this Origin is another one.");
}
