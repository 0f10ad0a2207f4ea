// D1 takes text of at most 2,000,000 bytes (Cloudflare docs, "D1: Limits").
const MAX_PARAMETER_BYTES = 1_900_000;

/**
 * A result as it is stored.
 *
 * @returns JSON, or undefined for undefined
 * @throws TypeError for what JSON cannot hold, RangeError if it is too large
 */
export function encode(result: unknown): string | undefined {
  const json = JSON.stringify(result) as string | undefined;
  if (json === undefined && result !== undefined) {
    throw new TypeError(`A result must be something that JSON can hold, not a ${typeof result}`);
  }
  if (json !== undefined) checkBytes(JSON.stringify(json));
  return json;
}

/** A result as it comes back from the store. */
export function decode(stored: string | null | undefined): unknown {
  return stored === null || stored === undefined ? undefined : JSON.parse(stored);
}

export function checkBytes(parameter: string): void {
  const bytes = new TextEncoder().encode(parameter).length;
  if (bytes > MAX_PARAMETER_BYTES) {
    throw new RangeError(
      `The results are ${bytes} bytes, at most ${MAX_PARAMETER_BYTES} are allowed: keep them in R2 and store where`,
    );
  }
}
