/** What the guard looks at in a request. */
export interface GuardedRequest {
  method: string | undefined;
  remoteAddress: string | undefined;
  headers: Record<string, string | string[] | undefined>;
}

/** Why a request is refused. */
export interface Refusal {
  status: 403 | 405 | 415;
  error: string;
}

const LOOPBACK = new Set(["127.0.0.1", "::1", "::ffff:127.0.0.1"]);
const OWN_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;

/**
 * The lab runs code and kills processes, so only a page of this very server may ask for that: not another machine,
 * not another site in the reader's browser, and not a name that was pointed at 127.0.0.1 (DNS rebinding). A form, which
 * browsers send across origins without asking, cannot send JSON.
 *
 * @returns null for a request that may pass
 */
export function refusal({ method, remoteAddress, headers }: GuardedRequest): Refusal | null {
  const refused = (error: string): Refusal => ({ status: 403, error });
  const { host, origin } = headers;
  if (!LOOPBACK.has(remoteAddress ?? "")) return refused("The lab answers this machine only.");
  if (typeof host !== "string" || !OWN_HOST.test(host)) {
    return refused("The lab answers under 127.0.0.1 and localhost only.");
  }
  if (origin !== undefined && origin !== `http://${host}`) {
    return refused("The lab answers its own pages only: this Origin is another one.");
  }
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin") {
    return refused("The lab answers its own pages only: Sec-Fetch-Site says another one.");
  }
  if (method !== "POST") return { status: 405, error: "The lab takes POST." };
  const type = headers["content-type"];
  if (typeof type !== "string" || !/^application\/json\s*(;|$)/i.test(type)) {
    return { status: 415, error: "The lab takes application/json." };
  }
  return null;
}
