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
  if (json !== undefined) checkBytes(JSON.stringify(json), "result is", KEEP_ELSEWHERE);
  return json;
}

/** A result as it comes back from the store. */
export function decode(stored: string | null | undefined): unknown {
  return stored === null || stored === undefined ? undefined : JSON.parse(stored);
}

function checkBytes(parameter: string, what: string, advice: string): void {
  const bytes = new TextEncoder().encode(parameter).length;
  if (bytes > MAX_PARAMETER_BYTES) {
    throw new RangeError(
      `The ${what} ${bytes} bytes as JSON, at most ${MAX_PARAMETER_BYTES} are allowed: ${advice}`,
    );
  }
}

const KEEP_ELSEWHERE = "keep results in R2 and store where";

/**
 * The one parameter that a statement about many keys has.
 *
 * @param entries may have a `result` each: JSON within the JSON, so that D1 keeps it to the letter
 * @throws RangeError if it is more than D1 takes. A control character is six bytes in JSON, so few keys can be too many
 */
export function parameterOf(
  entries: readonly { key: string; result?: string | undefined }[],
): string {
  const parameter = JSON.stringify(entries);
  const hasResults = entries.some(({ result }) => result !== undefined);
  const count = `${entries.length} ${entries.length === 1 ? "key is" : "keys are"}`;
  if (hasResults) checkBytes(parameter, `results with their ${count}`, KEEP_ELSEWHERE);
  else checkBytes(parameter, count, "take fewer at once, or hash them");
  return parameter;
}
