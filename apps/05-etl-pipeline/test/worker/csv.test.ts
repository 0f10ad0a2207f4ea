import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CsvRow, MAX_ROW_BYTES, readCsv } from "../../src/csv.ts";

/** Reads a text as the transform does, from chunks of these sizes in bytes. */
async function read(text: string, sizes: readonly number[] = []): Promise<CsvRow[]> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  const file = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const size of sizes) controller.enqueue(bytes.slice(at, (at += size)));
      controller.enqueue(bytes.slice(at));
      controller.close();
    },
  });
  const rows: CsvRow[] = [];
  for await (const some of readCsv(file.pipeThrough(new TextDecoderStream()))) rows.push(...some);
  return rows;
}

/** The rows in short: their line, with their fields or the word "rejected". */
const short = (rows: CsvRow[]) =>
  rows.map((row) => [row.line, "fields" in row ? row.fields : "rejected"]);

const BROKEN = "a quote is in the wrong place, or never closed";
const TOO_LONG = "a row must be at most 65536 bytes";

describe("a row", () => {
  test("is found with LF and CRLF, with and without a last line break, among blank lines", async () => {
    const rows = [
      [1, ["a", "b"]],
      [3, ["c", ""]],
      [5, ["e"]],
    ];
    for (const end of ["", "\n"]) {
      expect(short(await read(`a,b\n\nc,\n  \ne${end}`))).toEqual(rows);
      expect(short(await read(`a,b\r\n\r\nc,\r\n  \r\ne${end && "\r\n"}`))).toEqual(rows);
    }
  });

  test("goes on over line breaks in quotes, and the next one has the right number", async () => {
    const text = 'a,"1\n2\r\n\r\n5"\r\nb,"say ""hi"""\nc,d\n';
    expect(short(await read(text))).toEqual([
      [1, ["a", "1\n2\r\n\r\n5"]],
      [5, ["b", 'say "hi"']],
      [6, ["c", "d"]],
    ]);
  });

  test.each([
    ["opened and not closed", 'x,"y'],
    ["in a bare field", 'x,y"'],
    ["followed by text", 'x,"y"z'],
    ["twice in a bare field", 'x,1" by 2"'],
  ])("with a quote that is %s is rejected alone", async (_what, broken) => {
    const around = ["a,b", 'c,"d\ne"', broken, "f,g", 'h,"i\nj"', "k,l"];
    const rows = await read(around.join("\n"));
    expect(short(rows)).toEqual([
      [1, ["a", "b"]],
      [2, ["c", "d\ne"]],
      [4, "rejected"],
      [5, ["f", "g"]],
      [6, ["h", "i\nj"]],
      [8, ["k", "l"]],
    ]);
    expect(rows[2]).toEqual({ line: 4, text: broken, reason: BROKEN });
  });

  test("with a stray quote after another one is rejected too, and what is between them is not", async () => {
    const text = 'a,"b\nc,d\ne,f\ng,"h\ni,j';
    expect(short(await read(text))).toEqual([
      [1, "rejected"],
      [2, ["c", "d"]],
      [3, ["e", "f"]],
      [4, "rejected"],
      [5, ["i", "j"]],
    ]);
  });

  test("that is too long is rejected with its beginning, and the next one is read", async () => {
    const fits = "x".repeat(MAX_ROW_BYTES - 1);
    expect(short(await read(`${fits}\na,b`))).toEqual([
      [1, [fits]],
      [2, ["a", "b"]],
    ]);
    for (const sizes of [[], Array<number>(40).fill(5000)]) {
      const rows = await read(`${fits}${fits}${fits}\na,b\nc,d`, sizes);
      expect(short(rows)).toEqual([
        [1, "rejected"],
        [2, ["a", "b"]],
        [3, ["c", "d"]],
      ]);
      expect(rows[0]).toMatchObject({ reason: TOO_LONG });
    }
  });

  test.each([
    ["letters", (length: number) => "x".repeat(length)],
    ["wide characters", (length: number) => "茶".repeat(length / 3) + "x".repeat(length % 3)],
    ["commas", (length: number) => ",".repeat(length)],
    ["empty quotes", (length: number) => '"",'.repeat(length).slice(0, length - (length % 3))],
    ["a field in quotes", (length: number) => `"${"x".repeat(length - 2)}"`],
  ])("of %s is bounded to the byte, however it is cut", async (_what, rowOf) => {
    for (let length = MAX_ROW_BYTES - 3; length <= MAX_ROW_BYTES + 5; length++) {
      const row = rowOf(length);
      for (const newline of ["\n", "\r\n"]) {
        const bytes = new TextEncoder().encode(row + newline).length;
        for (let cut = MAX_ROW_BYTES - 2; cut <= MAX_ROW_BYTES + 6; cut++) {
          const [first, ...others] = await read(`${row}${newline}a,b\nc,d`, [cut]);
          expect(first && "fields" in first, `${bytes} bytes`).toBe(bytes <= MAX_ROW_BYTES);
          expect(short(others)).toEqual([
            [2, ["a", "b"]],
            [3, ["c", "d"]],
          ]);
        }
      }
    }
  });
});

test("D8: a line without an end takes no memory, not even one of commas: it is one rejected row", async () => {
  async function* file() {
    for (let nth = 0; nth < 1000; nth++) yield ",".repeat(50_000);
    yield "\na,b";
  }
  const rows: CsvRow[] = [];
  for await (const some of readCsv(file())) rows.push(...some);
  expect(short(rows)).toEqual([
    [1, "rejected"],
    [2, ["a", "b"]],
  ]);
  expect(rows[0]).toMatchObject({ reason: TOO_LONG });
  expect(rows[0]?.text.length).toBeLessThan(2 * MAX_ROW_BYTES);
});

test("an open quote is the reason, and not the length of what follows it", async () => {
  const after = "c,d\n".repeat(MAX_ROW_BYTES);
  const [first] = await read(`a,"b\n${after}`);
  expect(first).toEqual({ line: 1, text: 'a,"b', reason: BROKEN });
});

test("D8: an open quote takes no memory: of a million lines after it only some are kept", async () => {
  let lines = 0;
  let rows = 0;
  async function* file() {
    yield 'a,"b\n';
    while (lines < 1_000_000) {
      yield "c,d\n".repeat(1000);
      lines += 1000;
      // All but the last ones have come out again: those may still be the field behind the quote.
      expect(lines - rows).toBeLessThan(MAX_ROW_BYTES);
    }
  }
  for await (const some of readCsv(file())) rows += some.length;
  expect(rows).toBe(1_000_001);
});

const field = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "é", "茶", "🫖", " ", ",", '"', "\n", "\r\n", "'", ";") }),
  fc.string({ unit: "grapheme" }),
);
const quoted = (text: string) =>
  /[",\r\n]/.test(text) || text.trim() === "" ? `"${text.replaceAll('"', '""')}"` : text;
// Without "max" nearly all that fast-check makes is shorter than a line.
const upTo = (maxLength: number) => ({ maxLength, size: "max" }) as const;
const sizes = fc.array(fc.integer({ min: 0, max: 40 }), upTo(20));

test("any rows come back as they were written, with their lines, however they are cut", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(field, { minLength: 1, maxLength: 4 }), upTo(30)),
      fc.constantFrom("\n", "\r\n"),
      sizes,
      async (records, newline, cuts) => {
        const texts = records.map((record) => record.map(quoted).join());
        let line = 1;
        const expected = records.map((record, nth) => {
          const row = [line, record];
          line += (texts[nth] ?? "").split("\n").length;
          return row;
        });
        expect(short(await read(texts.join(newline), cuts))).toEqual(expected);
      },
    ),
    { numRuns: 500 },
  );
});

test("any text is read in the same way however it is cut, and no line of it is lost", async () => {
  const unit = fc.constantFrom("a", "b", ",", '"', '"', "\n", "\n", "\r\n", " ");
  await fc.assert(
    fc.asyncProperty(fc.string({ unit, ...upTo(300) }), sizes, async (text, cuts) => {
      const rows = await read(text, cuts);
      expect(rows).toEqual(await read(text));
      const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
      const covered = new Set(
        rows.flatMap(({ line, text: of }) => of.split("\n").map((_, nth) => line + nth)),
      );
      const lost = lines.filter((line, nth) => line.trim() !== "" && !covered.has(nth + 1));
      expect(lost).toEqual([]);
    }),
    { numRuns: 1000 },
  );
});
