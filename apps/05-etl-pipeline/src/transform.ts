import { breathe } from "./breathe.ts";
import { type CsvRow, readCsv } from "./csv.ts";
import { incoming, type SourceFile, stagedKey } from "./files.ts";
import { R2Writer } from "./r2-writer.ts";
import { COLUMNS, readSale, type Sale } from "./sale.ts";

/** How much of a rejected row is kept. */
const MAX_TEXT_LENGTH = 200;

/** A line of a staged file. */
type Staged = { line: number } & (Sale | { reason: string; text: string });

/** What became of a file: counts, never rows. */
export type Transformed =
  | { state: "transformed"; rows: number; rejected: number }
  | { state: "skipped"; reason: string };

/** Reads a file, checks each row, and writes what it finds to R2: a chunk in memory at a time, however large the file. */
export async function transformFile(env: Env, day: string, source: SourceFile) {
  const result = await stage(env.FILES, day, source);
  const counts = result.state === "skipped" ? { rows: 0, rejected: 0 } : result;
  // Not of a file that is loaded already: an attempt that has timed out goes on, and may end after its successor.
  await env.DB.prepare(
    `UPDATE files SET state = ?3, rows = ?4, rejected = ?5, reason = ?6
     WHERE day = ?1 AND file = ?2 AND etag = ?7 AND state <> 'loaded'`,
  )
    .bind(
      day,
      source.file,
      result.state,
      counts.rows,
      counts.rejected,
      result.state === "skipped" ? result.reason : null,
      source.etag,
    )
    .run();
  return result;
}

async function stage(bucket: R2Bucket, day: string, source: SourceFile): Promise<Transformed> {
  // The version that was listed, or none: two attempts must not read two versions.
  const object = await bucket.get(incoming(day) + source.file, {
    onlyIf: { etagMatches: source.etag },
  });
  if (!object) return { state: "skipped", reason: "it was deleted after the run had listed it" };
  if (!("body" in object))
    return { state: "skipped", reason: "it was replaced after the run had listed it" };

  const checker = new Checker(day);
  const writer = new R2Writer(bucket, await stagedKey(day, source));
  try {
    // The decoder takes a BOM off, and makes U+FFFD of what is not UTF-8.
    const text = object.body.pipeThrough(new TextDecoderStream());
    for await (const rows of readCsv(text)) {
      await writer.write(checker.check(rows));
      await breathe();
    }
    await writer.close();
  } catch (error) {
    await writer.abort();
    throw error;
  }
  return { state: "transformed", rows: checker.rows, rejected: checker.rejected };
}

/** Checks the rows of one file, and counts them. */
class Checker {
  rows = 0;
  rejected = 0;
  readonly #day: string;
  #hasHeader: boolean | undefined;

  constructor(day: string) {
    this.#day = day;
  }

  /** Turns rows into lines of JSON. */
  check(rows: readonly CsvRow[]): string {
    let text = "";
    for (const row of rows) {
      const staged = this.#staged(row);
      if (staged) text += `${JSON.stringify(staged)}\n`;
    }
    return text;
  }

  #staged(row: CsvRow): Staged | null {
    const fields = "fields" in row ? row.fields : [];
    if (this.#hasHeader === undefined) {
      this.#hasHeader = fields.length === COLUMNS.length && fields.join() === COLUMNS.join();
      return this.#hasHeader ? null : this.#reject(row, `the first row must be ${COLUMNS.join()}`);
    }
    if (!this.#hasHeader) return this.#reject(row, "no header says what its columns are");
    const sale = "reason" in row ? row.reason : readSale(fields, this.#day);
    if (typeof sale === "string") return this.#reject(row, sale);
    this.rows += 1;
    return { line: row.line, ...sale };
  }

  #reject({ line, text }: CsvRow, reason: string): Staged {
    this.rejected += 1;
    // D1 gives half of a surrogate pair back as another character, and SQL's functions end a text at a NUL.
    const start = text.slice(0, MAX_TEXT_LENGTH).toWellFormed().replaceAll("\0", "\uFFFD");
    return { line, reason, text: start };
  }
}
