import type { Database } from "./lease.ts";

/** Most keys in one statement. */
export const MAX_KEYS = 500;

// D1 takes text of at most 2,000,000 bytes (Cloudflare docs, "D1: Limits").
const MAX_PARAMETER_BYTES = 1_900_000;
/** What a statement is told of a key. Nothing else that its entry has, whatever it came from, goes to D1. */
const FIELDS = ["key", "owner", "fingerprint", "result", "nothingHappened"];

/** One entry of a statement about many keys. */
export interface Entry {
  key: string;
  owner?: string;
  fingerprint?: string | undefined;
  /** JSON within the JSON, so that D1 keeps it to the letter. */
  result?: string | undefined;
  nothingHappened?: boolean | undefined;
}

/**
 * The one parameter that a statement about many keys has.
 *
 * @throws RangeError for more than {@link MAX_KEYS}, or more bytes than D1 takes. A control character is six bytes in JSON,
 *   so few keys can be too many
 */
export function parameterOf(entries: readonly Entry[]): string {
  const { length } = entries;
  if (length > MAX_KEYS) {
    throw new RangeError(`${length} keys at once: at most ${MAX_KEYS} are allowed`);
  }
  const parameter = JSON.stringify(entries, FIELDS);
  const bytes = new TextEncoder().encode(parameter).length;
  if (bytes > MAX_PARAMETER_BYTES) {
    throw new RangeError(
      `${length} keys with what belongs to them are ${bytes} bytes as JSON, at most ${MAX_PARAMETER_BYTES} are allowed: take fewer at once, or keep results in R2`,
    );
  }
  return parameter;
}

/**
 * Runs a write that is safe to repeat a second time if the first fails, as it may have been done and only the answer
 * lost. D1 itself repeats reads that failed and never writes (Cloudflare docs, "D1: Retry queries").
 *
 * @param entries none: D1 is not asked
 * @param bound the parameters after the first, which is the entries
 */
export async function write<Row>(
  db: Database,
  sql: string,
  entries: readonly Entry[],
  ...bound: unknown[]
): Promise<Row[]> {
  const parameter = parameterOf(entries);
  if (entries.length === 0) return [];
  const statement = async () => {
    const { results } = await db
      .prepare(sql)
      .bind(parameter, ...bound)
      .all<Row>();
    return results;
  };
  return statement().catch(statement);
}

/** The same: for each entry, in the same order, whether a row came back for its key. */
export async function change(
  db: Database,
  sql: string,
  entries: readonly Entry[],
  ...bound: unknown[]
): Promise<boolean[]> {
  const rows = await write<{ key: string }>(db, sql, entries, ...bound);
  const keys = new Set(rows.map(({ key }) => key));
  return entries.map(({ key }) => keys.has(key));
}

/** The entries of the first parameter as a table `given`. */
export function given(...fields: string[]): string {
  const columns = fields.map((field) => `value ->> '$.${field}' AS ${field}`);
  return `(SELECT ${columns.join()} FROM json_each(?1)) AS given`;
}

/** Sets a column, unless the key is done for good. */
export function unlessDone(column: string, value: string): string {
  return `${column} = iif(held.state = 'done', held.${column}, ${value})`;
}

/**
 * A result as it is stored.
 *
 * @returns JSON, or undefined for undefined
 * @throws TypeError for what JSON cannot hold
 */
export function encode(result: unknown): string | undefined {
  const json = JSON.stringify(result) as string | undefined;
  if (json === undefined && result !== undefined) {
    throw new TypeError(`JSON cannot hold a result that is a ${typeof result}`);
  }
  return json;
}

/** A result as it comes back from the store. */
export function decode(stored: string | null | undefined): unknown {
  return stored === null || stored === undefined ? undefined : JSON.parse(stored);
}
