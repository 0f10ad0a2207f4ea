import { RULES } from "@durable-lessons/outside-world/rules";
import { type Variant, VARIANTS } from "../pair.ts";
import type { FlowResult, GauntletResult, TrialResult } from "../runner/gauntlet.ts";
import type { Colors } from "./colors.ts";

/** What stands in the grid: the trial was borne, it broke a rule, it did and the pair says so, it does not exist here. */
const MARKS = { borne: "✓", broke: "✗", told: "!", none: "·" };

/** A pair's grid: trials by variants, and what broke in words. */
export function gauntletBlock(results: readonly GauntletResult[], c: Colors): string {
  const [first] = results;
  if (!first) return "";
  const ok = results.every((result) => result.ok);
  const sides = VARIANTS.filter((variant) => results.some((result) => result.variant === variant));
  const names = [...new Set(results.flatMap(({ trials }) => trials.map(({ trial }) => trial)))];
  const width = Math.max(...names.map((name) => name.length)) + 2;
  const rows = names.map((name) => {
    const marks = sides.map((side) => markOf(results, side, name, c));
    return `    ${name.padEnd(width)}${marks.join("")}`;
  });
  return [
    "",
    `${ok ? c.green("✓") : c.red("✗")} ${c.bold(first.pair.id)}`,
    `    ${"".padEnd(width)}${sides.map((side) => c.dim(side.padEnd(9))).join("")}`,
    ...rows,
    ...results.flatMap((result) => wordsOf({ ...result, mustHold: result.variant === "fix" }, c)),
  ].join("\n");
}

function markOf(
  results: readonly GauntletResult[],
  side: Variant,
  name: string,
  c: Colors,
): string {
  const result = results.find(({ variant }) => variant === side);
  const trial = result?.trials.find((one) => one.trial === name);
  return mark(trial, side === "fix", c);
}

function mark(trial: TrialResult | undefined, mustHold: boolean, c: Colors): string {
  const pad = (text: string) => text.padEnd(9);
  if (!trial) return c.dim(pad(MARKS.none));
  if (trial.broken.length === 0) return c.green(pad(MARKS.borne));
  if (trial.exception) return c.yellow(pad(MARKS.told));
  return mustHold ? c.red(pad(MARKS.broke)) : pad(MARKS.broke);
}

/** The grid of one thing that a lesson's own code does. */
export function flowBlock({ flow, trials, stale, ok }: FlowResult, c: Colors): string {
  const width = Math.max(...trials.map(({ trial }) => trial.length)) + 2;
  return [
    "",
    `${ok ? c.green("✓") : c.red("✗")} ${c.bold(`the lesson's own code: ${flow}`)}`,
    ...trials.map((trial) => `    ${trial.trial.padEnd(width)}${mark(trial, true, c)}`),
    ...wordsOf({ variant: "own code", trials, stale, mustHold: true }, c),
  ].join("\n");
}

interface Words extends Pick<GauntletResult, "stale" | "trials"> {
  variant: string;
  /** Is it red where a rule breaks? A pitfall may break them. */
  mustHold: boolean;
}

function wordsOf({ variant, trials, stale, mustHold }: Words, c: Colors): string[] {
  const broken = trials.flatMap(({ trial, broken: all, exception }) =>
    all.map(({ rule, saw }) => {
      if (rule === exception?.breaks) {
        return c.yellow(
          `    ${variant}: ${trial}: ${exception.because} (fixed by: ${exception.cure})`,
        );
      }
      const text = `    ${variant}: ${trial}: ${saw} (${RULES[rule]})`;
      return mustHold ? c.red(text) : c.dim(text);
    }),
  );
  const notSeen = stale.map(({ trial, breaks }) =>
    c.red(
      `    ${variant}: ${trial}: listed as an exception to "${RULES[breaks]}", which it does not break`,
    ),
  );
  return [...broken, ...notSeen];
}

/** The last line: how many trials there were, and what came of them. */
export function gauntletSummary(
  results: readonly GauntletResult[],
  flows: readonly FlowResult[],
  c: Colors,
): string {
  const judged = [...results.filter(({ variant }) => variant === "fix"), ...flows];
  const trials = judged.flatMap((result) => result.trials);
  const told = trials.filter(({ exception }) => exception).length;
  const bad = judged.filter(({ ok }) => !ok).length;
  const what = `${judged.length - flows.length} fixes and ${flows.length} flows of the lessons' own code`;
  const text = `${what}, ${trials.length} trials, ${told} exceptions: ${judged.length - bad} as expected, ${bad} not`;
  return `\n${bad > 0 ? c.red(text) : c.green(text)}`;
}

/** What `--json` prints of a variant. */
export const gauntletRow = ({ lesson, pair, variant, trials, stale, ok }: GauntletResult) => ({
  lesson,
  pair: pair.id,
  variant,
  trials,
  stale,
  ok,
});
