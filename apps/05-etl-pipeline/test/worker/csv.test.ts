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

const BROKEN = "a quote is in the wrong place, or not closed in its line";
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

  test("is one line: two stray quotes with line breaks between them take no other row along", async () => {
    const text = 'a,"1\n2,x\r\n\r\n5",y\r\nb,"say ""hi"""\nc,d\n';
    const expected = [
      [1, "rejected"],
      [2, ["2", "x"]],
      [4, "rejected"],
      [5, ["b", 'say "hi"']],
      [6, ["c", "d"]],
    ];
    for (let cut = 0; cut <= text.length; cut++) {
      expect(short(await read(text, [cut]))).toEqual(expected);
    }
    expect((await read(text))[0]).toEqual({ line: 1, text: 'a,"1', reason: BROKEN });
  });

  test("of a whole file between two quotes is one rejected row, and so is the last one", async () => {
    const text = ['a,"b', ...Array(5000).fill("c,d"), 'e,f"'].join("\n");
    const rows = short(await read(text, Array(20).fill(1001)));
    expect([rows.length, rows[0], rows.at(-1)]).toEqual([
      5002,
      [1, "rejected"],
      [5002, "rejected"],
    ]);
    expect(rows.filter(([, what]) => what === "rejected")).toHaveLength(2);
  });

  test.each([
    ["opened and not closed", 'x,"y'],
    ["in a bare field", 'x,y"'],
    ["followed by text", 'x,"y"z'],
    ["twice in a bare field", 'x,1" by 2"'],
  ])("with a quote that is %s is rejected alone", async (_what, broken) => {
    const around = ["a,b", 'c,"d,e"', broken, "f,g", 'h,"i,j"', "k,l"];
    const rows = await read(around.join("\n"));
    expect(short(rows)).toEqual([
      [1, ["a", "b"]],
      [2, ["c", "d,e"]],
      [3, "rejected"],
      [4, ["f", "g"]],
      [5, ["h", "i,j"]],
      [6, ["k", "l"]],
    ]);
    expect(rows[2]).toEqual({ line: 3, text: broken, reason: BROKEN });
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

const field = fc
  .oneof(
    fc.string({ unit: fc.constantFrom("a", "é", "茶", "🫖", " ", ",", '"', "\t", "'", ";") }),
    fc.string({ unit: "grapheme" }),
  )
  .map((text) => text.replaceAll(/[\r\n]/g, " "));
const quoted = (text: string) =>
  /[",]/.test(text) || text.trim() === "" ? `"${text.replaceAll('"', '""')}"` : text;
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
        const expected = records.map((record, nth) => [nth + 1, record]);
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
      // Each once, as it stands there.
      const written = lines
        .map((line, nth) => [nth + 1, line])
        .filter(([, line]) => String(line).trim() !== "");
      expect(rows.map(({ line, text: of }) => [line, of])).toEqual(written);
    }),
    { numRuns: 1000 },
  );
});
