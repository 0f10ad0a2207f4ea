/**
 * Two sizes of one test. Files called `*.soak.test.ts` run small in `pnpm test`, so that they are quick and still go red for
 * what they guard, and in full in `pnpm test:soak`, which sets SOAK. What is slow at any size, and has a quick test beside it,
 * is skipped in the small one.
 */

/** Is this the full size? */
export const SOAKING = process.env["SOAK"] === "1";

/** The size of a test: the first in `pnpm test:soak`, the second everywhere else. */
export const soak = <T>(full: T, small: T): T => (SOAKING ? full : small);
