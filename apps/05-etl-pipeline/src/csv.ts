import { Buffer } from "node:buffer";
import { CsvError, parse, type Parser } from "csv-parse";

/**
 * Longest row, in bytes, with its line break. What is longer is rejected and not kept: memory has a bound, a broken file
 * has none.
 */
export const MAX_ROW_BYTES = 65_536;

/** So many bytes csv-parse may leave unread, until it sees what follows them. */
const LOOKAHEAD_BYTES = 3;

const TOO_LONG = `a row must be at most ${MAX_ROW_BYTES} bytes`;
const BROKEN = "a quote is in the wrong place, or not closed in its line";

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
 * A row is one line. RFC 4180 lets a field in quotes go on in the next one, and our files have no such field: what looks like one
 * are two stray quotes, with other rows between them.
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
  /** The line that `#rest` begins with will be rejected, once all of it is there. */
  #isBroken = false;
  /** Inside a line that is rejected already: it is too long to be kept. */
  #isSkipping = false;

  async read(chunk: string): Promise<CsvRow[]> {
    return this.#take(chunk, write);
  }

  async end(): Promise<CsvRow[]> {
    return this.#take("", finish, true);
  }

  async #take(chunk: string, give: typeof write, isEnd = false): Promise<CsvRow[]> {
    this.#rows = [];
    const bytes = Buffer.from(this.#isSkipping ? this.#skipLine(chunk) : chunk);
    this.#rest = Buffer.concat([this.#rest, bytes]);
    this.#isBroken ||= await this.#breaks(give, bytes);
    while (this.#isBroken) {
      const end = this.#rest.indexOf("\n");
      if (end === -1 && this.#rest.length <= MAX_ROW_BYTES && !isEnd) break;
      this.#isSkipping = end === -1;
      const length = end === -1 ? this.#rest.length : end + 1;
      this.#rows.push({ ...this.#cut(length), reason: length > MAX_ROW_BYTES ? TOO_LONG : BROKEN });
      this.#parser = this.#newParser();
      this.#isBroken = await this.#breaks(give, this.#rest);
    }
    return this.#rows;
  }

  /** Gives bytes to the parser. Do they hold a row that it cannot read, or one that is too long? */
  async #breaks(give: typeof write, bytes: Buffer): Promise<boolean> {
    const isRead = await give(this.#parser, bytes);
    return !isRead || this.#rest.length > MAX_ROW_BYTES + LOOKAHEAD_BYTES;
  }

  #newParser(): Parser {
    let taken = 0;
    return parse({
      record_delimiter: ["\r\n", "\n"],
      relax_column_count: true,
      // Taken here and not from the parser's output, which an error empties.
      on_record: (fields: string[], { bytes }) => {
        // csv-parse's max_record_size counts what is in the fields: of a line of commas nothing.
        if (bytes - taken > MAX_ROW_BYTES) throw new CsvError("CSV_MAX_RECORD_SIZE", TOO_LONG);
        const end = this.#rest.indexOf("\n");
        if (end !== -1 && end < bytes - taken - 1)
          throw new CsvError("CSV_QUOTE_NOT_CLOSED", BROKEN);
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
    if (raw.includes("\n")) this.#line += 1;
    return row;
  }
}

const write = (parser: Parser, bytes: Buffer) =>
  settled(parser, (done) => parser.write(bytes, done));

const finish = (parser: Parser, bytes: Buffer) =>
  settled(parser, (done) => parser.end(bytes, done));

/** Waits until a parser has read what it is given; false where it could not. */
function settled(
  parser: Parser,
  give: (done: (error?: Error | null) => void) => void,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error | null) => {
      if (!error) parser.off("error", settle);
      if (!error || error instanceof CsvError) resolve(!error);
      else reject(error);
    };
    parser.once("error", settle);
    give(settle);
  });
}
