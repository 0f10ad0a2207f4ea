import { fromHex, toHex, utf8 } from "./bytes.ts";

/** What a link allows: decide once, about one version of one draft, in one reviewer's name, for some time. */
export interface Invitation {
  draftId: string;
  sha256: string;
  reviewer: string;
  /** Milliseconds since the epoch, in decimal. */
  expires: string;
}

/** The part of `env` that links depend on. */
export interface LinkEnv {
  PUBLIC_ORIGIN: string;
  REVIEW_LINK_KEY?: string;
}

/** As many characters as SHA-256 has bytes: a shorter key would be the weakest part. */
const MIN_KEY_LENGTH = 32;

/** The keys that links are checked with; the first one signs. Two of them, with a space between, while they change. */
function keysOf({ REVIEW_LINK_KEY = "" }: LinkEnv): string[] {
  return REVIEW_LINK_KEY.split(/\s+/).filter((key) => key.length >= MIN_KEY_LENGTH);
}

/**
 * What stands in the way of links that work, or null.
 *
 * @param url of the request: no request to a deployed Worker comes from the machine that it runs on
 */
export function obstacleToLinks(env: LinkEnv, url: string): string | null {
  if (keysOf(env).length === 0)
    return `No key of ${MIN_KEY_LENGTH} characters or more signs the links. Set one: wrangler secret put REVIEW_LINK_KEY`;
  // A link is a login, so it must not travel in the clear.
  const isLocal = /^(localhost|127\.0\.0\.1)$/.test(new URL(url).hostname);
  if (!isLocal && !/^https:\/\/(?!localhost\b)\w/.test(env.PUBLIC_ORIGIN))
    return "The links would lead nowhere. Set PUBLIC_ORIGIN in wrangler.jsonc, such as https://review.example";
  return null;
}

/** The reviewer's link: the same for the same invitation, so that a retried email is the same email. */
export async function reviewLink(env: LinkEnv, invitation: Invitation): Promise<string> {
  const [key] = keysOf(env);
  if (!key) throw new Error("No key signs the links.");
  const link = new URL(`/review/${invitation.draftId}`, env.PUBLIC_ORIGIN);
  const signature = await crypto.subtle.sign("HMAC", await imported(key), bytesOf(invitation));
  link.searchParams.set("expires", invitation.expires);
  link.searchParams.set("signature", toHex(signature));
  return link.href;
}

/** Has one of our keys signed this invitation? `verify` takes as long for a near miss as for any other. */
export async function isSigned(
  env: LinkEnv,
  invitation: Invitation,
  signature: string,
): Promise<boolean> {
  // One spelling per signature: otherwise a changed link could be as good as the one that was sent.
  if (!/^[0-9a-f]{64}$/.test(signature)) return false;
  const checks = keysOf(env).map(async (key) =>
    crypto.subtle.verify("HMAC", await imported(key), fromHex(signature), bytesOf(invitation)),
  );
  return (await Promise.all(checks)).includes(true);
}

/** JSON keeps the fields apart; the first one keeps this signature from meaning anything else. */
const bytesOf = ({ draftId, sha256, reviewer, expires }: Invitation) =>
  utf8(JSON.stringify(["review a draft", draftId, sha256, reviewer, expires]));

const imported = (key: string) =>
  crypto.subtle.importKey("raw", utf8(key), { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
    "verify",
  ]);
