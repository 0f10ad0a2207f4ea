/**
 * The header of a request from an address that no other request of the tests comes from: the limits of the lessons count by
 * address. In production Cloudflare sets it, here whoever calls.
 */
export const anotherCaller = (): { "cf-connecting-ip": string } => ({
  "cf-connecting-ip": [10, ...crypto.getRandomValues(new Uint8Array(3))].join("."),
});
