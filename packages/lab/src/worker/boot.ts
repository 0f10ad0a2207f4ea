/** Where a workerd says which one it is. Wrangler logs no request below `/cdn-cgi/` (measured locally). */
export const BOOT_PATH = "/cdn-cgi/lab/boot";

let boot: string | undefined;

/** The same as long as this workerd lives, and another one after it. */
export const bootId = (): string => (boot ??= crypto.randomUUID());
