import { EFFECTS } from "@durable-lessons/types";
import { describeDisturbance, VARIANTS } from "../pair.ts";
import type { PairResult, Progress } from "../runner/index.ts";
import type { Colors } from "./colors.ts";

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

/** One pair: the claim, what disturbed it, and the evidence of both sides in two columns. */
export function pairBlock({ pair, variants, ok, ms }: PairResult, c: Colors): string {
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
    const { differences, error } = variants[variant];
    const lines = differences.map(
      ({ kind, expected, seen }) =>
        `    ${variant}: ${kind}: expected ${JSON.stringify(expected)}, seen ${JSON.stringify(seen)}`,
    );
    if (lines.length > 0 && error) lines.push(`    ${variant}: ${errorText(error)}`);
    return lines;
  });
  return [
    "",
    `${mark} ${c.bold(pair.id)}  ${c.dim(`${ms} ms`)}`,
    `    ${pair.claim}`,
    c.dim(`    disturbed by: ${describeDisturbance(pair)}`),
    c.dim(`    ${"".padEnd(width)}${cell("pitfall")}${cell("fix")}`),
    ...rows,
    ...problems.map((problem) => c.red(problem)),
  ].join("\n");
}

/** The last line: how many pairs were as expected. */
export function summaryLine(results: PairResult[], c: Colors): string {
  const bad = results.filter(({ ok }) => !ok).length;
  const text = `${count(results.length, "pair")}: ${results.length - bad} as expected, ${bad} not`;
  return `\n${bad > 0 ? c.red(text) : c.green(text)}`;
}

/** What `--json` prints. */
export function asJson(results: PairResult[]) {
  return results.map(({ lesson, pair, variants, ok, ms }) => ({
    lesson,
    pair: pair.id,
    title: pair.title,
    claim: pair.claim,
    disturb: pair.disturb ?? null,
    variants,
    ok,
    ms,
  }));
}

/** What stands for a kind that only the other side names: effects are exact, of the rest nothing was asked. */
const absent = (kind: string) => (Object.values<string>(EFFECTS).includes(kind) ? 0 : "–");

const cell = (text: string) => text.padStart(12);

const plain = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`;

function errorText(error: unknown): string {
  return typeof error === "object" && error !== null && "message" in error
    ? String(error.message)
    : String(error);
}
