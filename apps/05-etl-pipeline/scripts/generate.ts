/**
 * Makes a night's files out of a seed: most rows in order, some broken in every way that a night can bring, and what the
 * run must make of them. The same options give the same bytes.
 */

import { Buffer } from "node:buffer";
import { randomOf } from "@durable-lessons/lab/random";

/** What to make. */
export interface DataOptions {
  day: string;
  seed: number;
  /** How many files of shops, beside a handful of odd ones. */
  files: number;
  /** How many rows each of them has, good and bad. */
  rows: number;
}

/** What a run must make of some files. */
export interface Totals {
  rows: number;
  rejected: number;
  currencies: Record<string, { rows: number; minor: number }>;
}

/** A file, and what a run must make of it. */
export interface GeneratedFile extends Totals {
  /** Its key without the day's folder. */
  file: string;
  bytes: Uint8Array;
  /** The lines that must be rejected, from 1. */
  rejectedLines: number[];
}

/** A list that has at least one. */
type Some<T> = readonly [T, ...T[]];

const HEADER = "sale_id,sold_at,shop,currency,amount";
const CURRENCIES: Some<[name: string, digits: number]> = [
  ["EUR", 2],
  ["GBP", 2],
  ["JPY", 0],
  ["KWD", 3],
  ["USD", 2],
];
const SHOPS: Some<string> = [
  "Berlin",
  "Zürich",
  "東京",
  '"Tea, and more"',
  '"The ""Pot"""',
  '"One, two; three"',
];
/** Stands for bytes that are no UTF-8. It has as many of its own. */
const BAD_BYTES = "\uE000";

/** All files of a day, one at a time. */
export function* generate(options: DataOptions): Generator<GeneratedFile> {
  for (let nth = 0; nth < options.files; nth++) yield shopFile(options, nth);
  yield fileOf("odd/empty.csv", "", []);
  yield fileOf("odd/bom-only.csv", "\uFEFF", []);
  yield fileOf("odd/header-only.csv", `\uFEFF${HEADER}\r\n`, []);
  const row = `odd-1,${options.day}T12:00:00Z,Berlin,EUR,1.00`;
  yield fileOf("odd/no-header.csv", `${row}\n\n${row}\n`, [1, 3]);
  yield fileOf("odd/quote-to-the-end.csv", `${HEADER}\n"${row}`, [2]);
}

/** Adds up what a run must make of all files. */
export function addUp(all: Iterable<Totals>): Totals {
  const sum: Totals = { rows: 0, rejected: 0, currencies: {} };
  for (const { rows, rejected, currencies } of all) {
    sum.rows += rows;
    sum.rejected += rejected;
    for (const [name, of] of Object.entries(currencies)) count(sum.currencies, name, of);
  }
  const byName = Object.entries(sum.currencies).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { ...sum, currencies: Object.fromEntries(byName) };
}

function fileOf(file: string, text: string, rejectedLines: number[]): GeneratedFile {
  const bytes = new TextEncoder().encode(text);
  return { file, bytes, rows: 0, rejected: rejectedLines.length, currencies: {}, rejectedLines };
}

function shopFile({ day, seed, rows, files }: DataOptions, nth: number): GeneratedFile {
  const random = randomOf(seed * 100_003 + nth);
  const pick = <T>(list: Some<T>): T => list[random(list.length)] ?? list[0];
  const currencies: Totals["currencies"] = {};
  const rejectedLines: number[] = [];
  const newline = random(3) === 0 ? "\r\n" : "\n";
  const lines = [`${random(4) === 0 ? "\uFEFF" : ""}${HEADER}`];
  let line = 2;
  for (let row = 0; row < rows; row++) {
    const id = `s${nth}-${row}`;
    const [currency, digits] = pick(CURRENCIES);
    const minor = random(100_000) - 5000;
    const fields = [id, `${day}T${two(random(24))}:${two(random(60))}:${two(random(60))}Z`];
    fields.push(pick(SHOPS), currency, inMajor(minor, digits));
    const isBad = random(150) === 0;
    // The first row of a file is in order, so that a later one can take its sale_id.
    const text = isBad && row > 0 ? pick(BREAKS)(fields, `s${nth}-0`).join() : fields.join();
    if (isBad && row > 0) rejectedLines.push(line);
    else count(currencies, currency, { rows: 1, minor });
    lines.push(text);
    line += 1;
    if (random(500) === 0) {
      lines.push("");
      line += 1;
    }
  }
  if (random(2) === 0) lines.push("");
  const good = Object.values(currencies).reduce((sum, of) => sum + of.rows, 0);
  const width = `${files}`.length;
  return {
    file: `shop-${`${nth}`.padStart(width, "0")}.csv`,
    bytes: withBadBytes(lines.join(newline)),
    rows: good,
    rejected: rejectedLines.length,
    currencies,
    rejectedLines,
  };
}

type Break = (fields: string[], takenId: string) => string[];

const set =
  (at: number, ...values: string[]): Break =>
  (fields) =>
    fields.with(at, values[fields.join().length % values.length] ?? "");

/** Every way in which a row is broken. */
const BREAKS: Some<Break> = [
  (fields) => fields.slice(0, -1),
  (fields) => [...fields, "surplus"],
  (fields, takenId) => fields.with(0, takenId),
  (fields) => fields.with(2, BAD_BYTES),
  (fields) => fields.with(2, '"Berlin'),
  (fields) => fields.with(2, '17" Monitor'),
  set(0, "", "a b", "'; DROP TABLE sales"),
  set(1, "", "yesterday", "2026-02-30T10:00:00Z", "1999-01-01T00:00:00Z"),
  set(2, "", "   ", "x".repeat(101)),
  set(3, "", "eur", "DOGE", "toString"),
  set(4, "", "free", "12;99", "1e3", "NaN", "1.2345", "--1", "99999999", "٣"),
];

function count(into: Totals["currencies"], name: string, add: { rows: number; minor: number }) {
  const sum = (into[name] ??= { rows: 0, minor: 0 });
  sum.rows += add.rows;
  sum.minor += add.minor;
}

const two = (value: number) => `${value}`.padStart(2, "0");

function inMajor(minor: number, digits: number): string {
  const text = `${Math.abs(minor)}`.padStart(digits + 1, "0");
  const sign = minor < 0 ? "-" : "";
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

function withBadBytes(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  const mark = Buffer.from(BAD_BYTES);
  for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at)) {
    bytes.set([0xff, 0xfe, 0xfd], at);
  }
  return bytes;
}
