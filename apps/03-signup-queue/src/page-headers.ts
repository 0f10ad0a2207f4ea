/**
 * The headers of a page of this lesson: nothing runs but its own script, whatever somebody has typed, and nobody frames it.
 *
 * @param nonce of its script and style, another one for each answer
 * @param formAction where its forms may be sent
 */
export const pageHeaders = (nonce: string, formAction: "'none'" | "'self'") => ({
  "content-security-policy": [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "require-trusted-types-for 'script'",
    `form-action ${formAction}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
});
