/**
 * What the ledger keeps of a request: enough to see what was done twice, and for whose order; nothing that a person said, or by
 * which one is found.
 */

/**
 * Fields that are kept as they are: ids of the lessons' own, amounts, and names of goods and files. A subject too: the
 * lessons' are their own words, and hold no more than an id. Everything else is a fingerprint: addresses, texts, and
 * the links in them, lines of logs, cards.
 */
const AS_THEY_ARE = new Set([
  "articleId",
  "bytes",
  "cents",
  "chargeId",
  "file",
  "lines",
  "model",
  "orderId",
  "quantity",
  "rows",
  "sku",
  "subject",
  "userId",
]);

const FINGERPRINT = "sha256:";

/**
 * The fingerprint of something that was sent to a provider, salted with its run: the same thing in another run has another
 * one. It gives nothing back; but whoever has the ledger can try: is it this address? So it is still data of that person.
 *
 * @param run the run that it was sent in
 * @param value anything that JSON can carry
 * @returns `sha256:` and 32 hexadecimal digits
 */
export async function fingerprintOf(run: string, value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify([run, value]));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).slice(0, 16);
  return FINGERPRINT + Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Is this the fingerprint of something, and no value? */
export const isFingerprint = (value: unknown): boolean =>
  typeof value === "string" && value.startsWith(FINGERPRINT);

/**
 * A request as the ledger keeps it. Equal requests of a run are kept as equal ones, different ones as different ones.
 *
 * @param run the run that it belongs to
 * @param detail what is asked for, without its key
 */
export async function keptOf(
  run: string,
  detail: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const fields = Object.entries(detail).map(async ([name, value]) => [
    name,
    AS_THEY_ARE.has(name) ? value : await fingerprintOf(run, value),
  ]);
  return Object.fromEntries(await Promise.all(fields));
}
