import { EFFECTS } from "@durable-lessons/types";
import { describeDisturbance } from "../describe.ts";
import { type AnyVariant, VARIANTS } from "../pair.ts";
import type { PairResult, Progress, ThrownError, UnreadablePair } from "../runner/index.ts";
import type { Colors } from "./colors.ts";
import type { TypeHint } from "./type-hints.ts";

const MARKS = { ok: "✓", different: "✗" };

/** The heading of a lesson. */
export const lessonLine = (lesson: string, c: Colors) => `\n${c.bold(lesson)}`;

/** What the crash did, with the process ids as the operating system gave them. */
export const crashLine = (
  { pidBefore, pidAfter, signal }: Extract<Progress, { type: "crashed" }>,
  c: Colors,
) =>
  c.dim(
    `  workerd ${pidBefore} ended by ${signal}; workerd ${pidAfter} started on the same storage`,
  );

/** That the runtime had to be replaced. */
export const lostLine = (
  { pair, variant, reason }: Extract<Progress<AnyVariant>, { type: "runtime-lost" }>,
  c: Colors,
) =>
  c.yellow(
    `  ${reason}. Code of ${pair} (${variant}) ran last: it is run again alone, after all the others`,
  );

/** One pair: the claim, what disturbed it, and the evidence of both sides in two columns. */
export function pairBlock(
  { lesson, pair, variants, ok, ms }: PairResult,
  c: Colors,
  hints: readonly TypeHint[] = [],
): string {
  const mark = ok ? c.green(MARKS.ok) : c.red(MARKS.different);
  const kinds = [
    ...new Set(VARIANTS.flatMap((variant) => Object.keys(variants[variant].expected))),
    ...(variants.pitfall.status === variants.fix.status ? [] : ["status"]),
  ].filter((kind, index, all) => all.indexOf(kind) === index);
  const width = Math.max(12, ...kinds.map((kind) => kind.length));
  const rows = kinds.map((kind) => {
    const cells = VARIANTS.map((variant) => {
      const { evidence, status, differences } = variants[variant];
      const text = cell(kind === "status" ? status : plain(evidence[kind] ?? absent(kind)));
      return differences.some((difference) => difference.kind === kind) ? c.red(text) : text;
    });
    return `    ${kind.padEnd(width)}${cells.join("")}`;
  });
  const problems = VARIANTS.flatMap((variant) => {
    const { differences, error, thrown = [] } = variants[variant];
    if (differences.length === 0) return [];
    const reason = error ? [`    ${variant}: ${indented(errorText(error))}`] : [];
    const found = differences.map(
      ({ kind, expected, seen }) =>
        `    ${variant}: ${kind}: expected ${JSON.stringify(expected)}, seen ${JSON.stringify(seen)}`,
    );
    const places = thrown.flatMap((one) => thrownLines(variant, one));
    const file = `      see apps/${lesson}/src/pitfalls/${pair.id}/${variant}.ts`;
    return [...reason, ...places, ...found, ...(thrown.some(({ at }) => at) ? [] : [file])];
  });
  const written = VARIANTS.flatMap((variant) =>
    (variants[variant].console ?? []).map(
      ({ level, text }) => `    ${variant}: console.${level}: ${indented(text)}`,
    ),
  );
  return [
    "",
    `${mark} ${c.bold(pair.id)}  ${c.dim(`${ms} ms`)}`,
    `    ${pair.claim}`,
    c.dim(`    disturbed by: ${describeDisturbance(pair)}`),
    c.dim(`    ${"".padEnd(width)}${cell("pitfall")}${cell("fix")}`),
    ...rows,
    ...problems.map((problem) => c.red(problem)),
    ...hints.map(({ at, message }) => c.yellow(`    hint: ${at}: ${message}`)),
    ...written.map((text) => c.dim(text)),
  ].join("\n");
}

/** A pair that could not be run. */
export const unreadableBlock = ({ pair, message }: UnreadablePair, c: Colors): string =>
  ["", `${c.red(MARKS.different)} ${c.bold(pair)}`, c.red(`    cannot be read: ${message}`)].join(
    "\n",
  );

export function thrownLines(
  variant: AnyVariant,
  { name, message, step, at, times }: ThrownError,
): string[] {
  const where = step === null ? "" : ` in step "${step}"`;
  const often = times > 1 ? `, ${times} times` : "";
  const lines = [`    ${variant}: threw ${name}: ${indented(message)}${where}${often}`];
  if (at) lines.push(`      at ${at}`);
  return lines;
}

/** The last line: how many pairs were as expected. */
export function summaryLine(rows: readonly { ok: boolean }[], c: Colors): string {
  const bad = rows.filter(({ ok }) => !ok).length;
  const text = `${count(rows.length, "pair")}: ${rows.length - bad} as expected, ${bad} not`;
  return `\n${bad > 0 ? c.red(text) : c.green(text)}`;
}

/** What `--json` prints of a pair. */
export function jsonRow(
  { lesson, pair, variants, ok, ms }: PairResult,
  hints: readonly TypeHint[] = [],
) {
  return {
    lesson,
    pair: pair.id,
    title: pair.title,
    claim: pair.claim,
    disturb: pair.disturb ?? null,
    variants,
    ok,
    ms,
    ...(hints.length > 0 ? { hints } : {}),
  };
}

/** What it prints of one that could not be run. */
export const unreadableRow = ({ lesson, pair, message }: UnreadablePair) => ({
  lesson,
  pair,
  error: message,
  ok: false,
});

/** What stands for a kind that only the other side names: effects are exact, of the rest nothing was asked. */
const absent = (kind: string) => (Object.values<string>(EFFECTS).includes(kind) ? 0 : "–");

const cell = (text: string) => text.padStart(12);

export const indented = (text: string) => text.replaceAll("\n", "\n      ");

export const plain = (value: unknown) =>
  typeof value === "string" ? value : JSON.stringify(value);

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`;

export function errorText(error: unknown): string {
  return typeof error === "object" && error !== null && "message" in error
    ? String(error.message)
    : String(error);
}
