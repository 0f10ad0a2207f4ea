import { describeDisturbance } from "../describe.ts";
import type { Difference } from "../evidence.ts";
import { YOURS } from "../pair.ts";
import { ownPlan } from "../plan.ts";
import type { PracticeProgress } from "../practice-progress.ts";
import type { Attempt, AttemptStage, Practice } from "../runner/practice.ts";
import { nameInRepository } from "../runner/read-lesson.ts";
import { isExercise } from "../runner/yours.ts";
import type { Colors } from "./colors.ts";
import { errorText, indented, plain, thrownLines } from "./output.ts";
import type { Exercise } from "./practice-exercises.ts";

/** What is to be done: the claim, what disturbs, and which file is the reader's. */
export function taskBlock({ name, lesson, pair, file }: Exercise, c: Colors): string {
  const { disturb } = ownPlan(pair, YOURS);
  const own = disturb && "crash" in disturb ? { ...pair, disturb } : pair;
  return [
    `${c.bold(name)}  ${pair.title}`,
    `  ${pair.claim}`,
    c.dim(`  disturbed by: ${describeDisturbance(own)}`),
    `  your file: ${c.cyan(nameInRepository(lesson, file))}`,
  ].join("\n");
}

/** What comes next, while one waits. */
export const STAGES: Record<AttemptStage, string> = {
  running: "running it",
  trials: "the evidence is right; now the other faults, one at a time",
};

/** What came of an attempt, in words. */
export function attemptBlock(attempt: Attempt, c: Colors): string {
  const { syntax, types, result, trials, solved } = attempt;
  const problems = [...syntax, ...types].map(
    ({ at, message }) => c.yellow(`  ${at}: `) + indented(message),
  );
  if (!result) {
    return [c.red("✗ not yet: it cannot be built"), ...problems].join("\n");
  }
  const kinds = Object.keys(result.expected);
  const width = Math.max(12, ...kinds.map((kind) => kind.length));
  const cell = (value: unknown) => plain(value ?? "–").padStart(12);
  const isWrong = (kind: string) => result.differences.some((one) => one.kind === kind);
  const rows = kinds.map((kind) => {
    const seen = cell(result.evidence[kind]);
    return `  ${kind.padEnd(width)}${isWrong(kind) ? c.red(seen) : c.green(seen)}${cell(result.expected[kind])}`;
  });
  const reason =
    result.differences.length > 0 && result.error ? [indented(errorText(result.error))] : [];
  return [
    c.dim(`  ${"".padEnd(width)}${cell("yours")}${cell("goal")}`),
    ...rows,
    "",
    ...(solved ? [c.green("✓ solved")] : [c.red("✗ not yet")]),
    ...(trials && solved
      ? [c.dim(`  It survives ${trials.count} other trials too, as the fix does.`)]
      : []),
    ...result.differences.map((one) => `  ${inWords(one)}`),
    ...reason.map((text) => `  ${text}`),
    ...(trials?.broken ?? []).map(({ trial, saw }) => `  under another fault, "${trial}": ${saw}`),
    ...(result.thrown ?? []).flatMap((one) => thrownLines(YOURS, one)).map((line) => line.slice(2)),
    ...problems,
    ...(result.console ?? []).map(({ level, text }) =>
      c.dim(`  console.${level}: ${indented(text)}`),
    ),
  ].join("\n");
}

/** What differs, as one would say it. */
function inWords({ kind, expected, seen }: Difference): string {
  if (kind === "status") return `it ended as ${plain(seen)}; it should end as ${plain(expected)}`;
  if (kind.startsWith("output.")) {
    return `${kind.slice("output.".length)} is ${plain(seen ?? "not there")}; it should be ${plain(expected)}`;
  }
  return `${kind}: ${times(Number(seen))}; it should be ${times(Number(expected))}`;
}

const TIMES = ["not at all", "once", "twice"];
const times = (count: number) => TIMES[count] ?? `${count} times`;

/** What `--json` prints of an attempt. */
export const attemptRow = ({ lesson, pair, file }: Practice, { solved, ...attempt }: Attempt) => ({
  lesson: lesson.id,
  pair: pair.id,
  file: nameInRepository(lesson, file),
  solved,
  ...attempt,
});

/** All pairs, with what is solved. */
export function listBlock(
  exercises: readonly Exercise[],
  progress: PracticeProgress,
  c: Colors,
): string {
  return [...Map.groupBy(exercises, ({ lesson }) => lesson)]
    .flatMap(([lesson, all]) => {
      const own = all.filter(({ pair }) => isExercise(pair));
      const solved = own.filter(({ name }) => progress[name]?.solvedAt).length;
      return [
        "",
        `${c.bold(lesson.id)}  ${solved} of ${own.length}`,
        ...all.map((exercise) => {
          const { name, pair, isBegun } = exercise;
          const mark = progress[name]?.solvedAt ? c.green("✓") : isBegun ? c.yellow("…") : "·";
          return isExercise(pair)
            ? `  ${mark} ${name}`
            : c.dim(`  – ${name}  its settings are the lesson, there is no code to repair`);
        }),
      ];
    })
    .slice(1)
    .join("\n");
}

/** Why there is nothing to do at a pair. */
export const noExercise = ({ name }: Exercise) =>
  `${name} has no exercise: both files are the same, and the settings of their queues are the lesson. See its pair.ts.`;
