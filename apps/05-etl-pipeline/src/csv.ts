import { CsvError, parse, type Parser } from "csv-parse";

/** Longest row, in bytes. What is longer is rejected and not kept: memory has a bound, a broken file has none. */
export const MAX_ROW_BYTES = 65_536;

interface PlainRow {
  /** The number of its first line, from 1. */
  line: number;
  text: string;
}

/** A row: its fields, or why it has none. */
export type CsvRow = PlainRow & ({ fields: string[] } | { reason: string });

/**
 * Reads the rows of a CSV file (RFC 4180, with CRLF or LF), as many at a time as a chunk of it holds. Blank lines are none.
 *
 * csv-parse stops at a row that it cannot read, and takes all that follows a quote that is never closed for one field. So
 * of what it cannot read the first line is rejected, and a new parser begins with the line after it.
 */
export async function* readCsv(file: AsyncIterable<string>): AsyncGenerator<CsvRow[]> {
  const reader = new CsvReader();
  for await (const chunk of file) yield await reader.read(chunk);
  yield await reader.end();
}

class CsvReader {
  #rows: CsvRow[] = [];
  /** What lies behind the last row, and the number of its first line. */
  #rest: Buffer = Buffer.alloc(0);
  #line = 1;
  #parser = this.#newParser();
  /** Why the line that `#rest` begins with will be rejected, once all of it is there. */
  #error: CsvError | null = null;
  /** Inside a line that is rejected already: it is too long to be kept. */
  #isSkipping = false;

  async read(chunk: string): Promise<CsvRow[]> {
    return this.#take(chunk, (bytes) => write(this.#parser, bytes));
  }

  async end(): Promise<CsvRow[]> {
    return this.#take("", (bytes) => finish(this.#parser, bytes), true);
  }

  async #take(
    chunk: string,
    give: (bytes: Buffer) => Promise<CsvError | null>,
    isEnd = false,
  ): Promise<CsvRow[]> {
    this.#rows = [];
    const bytes = Buffer.from(this.#isSkipping ? this.#skipLine(chunk) : chunk);
    this.#rest = Buffer.concat([this.#rest, bytes]);
    this.#error ??= await give(bytes);
    while (this.#error) {
      const end = this.#rest.indexOf("\n");
      if (end === -1 && this.#rest.length <= MAX_ROW_BYTES && !isEnd) break;
      this.#isSkipping = end === -1;
      const line = this.#cut(end === -1 ? this.#rest.length : end + 1);
      this.#rows.push({ ...line, reason: reasonOf(this.#error) });
      this.#parser = this.#newParser();
      this.#error = await give(this.#rest);
    }
    return this.#rows;
  }

  #newParser(): Parser {
    let taken = 0;
    return parse({
      record_delimiter: ["\r\n", "\n"],
      relax_column_count: true,
      max_record_size: MAX_ROW_BYTES,
      // Taken here and not from the parser's output, which an error empties.
      on_record: (fields: string[], { bytes }) => {
        const row = this.#cut(bytes - taken);
        if (row.text.trim() !== "") this.#rows.push({ ...row, fields });
        taken = bytes;
        return null;
      },
    });
  }

  /** Takes what is left of a line off a chunk. */
  #skipLine(chunk: string): string {
    const end = chunk.indexOf("\n");
    if (end === -1) return "";
    this.#isSkipping = false;
    this.#line += 1;
    return chunk.slice(end + 1);
  }

  #cut(length: number): PlainRow {
    const raw = this.#rest.toString("utf8", 0, length);
    const row = { line: this.#line, text: raw.replace(/\r?\n$/, "") };
    this.#rest = this.#rest.subarray(length);
    for (let at = raw.indexOf("\n"); at !== -1; at = raw.indexOf("\n", at + 1)) this.#line += 1;
    return row;
  }
}

const reasonOf = ({ code }: CsvError) =>
  code === "CSV_MAX_RECORD_SIZE"
    ? `a row must be at most ${MAX_ROW_BYTES} bytes`
    : "a quote is in the wrong place, or never closed";

const write = (parser: Parser, bytes: Buffer) =>
  settled(parser, (done) => parser.write(bytes, done));

const finish = (parser: Parser, bytes: Buffer) =>
  settled(parser, (done) => parser.end(bytes, done));

/** Waits until a parser has read what it is given; with the error that ended it, if one did. */
function settled(
  parser: Parser,
  give: (done: (error?: Error | null) => void) => void,
): Promise<CsvError | null> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error | null) => {
      if (!error) parser.off("error", settle);
      if (!error || error instanceof CsvError) resolve(error ?? null);
      else reject(error);
    };
    parser.once("error", settle);
    give(settle);
  });
}
