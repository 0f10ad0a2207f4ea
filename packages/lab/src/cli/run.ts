import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { autocompleteMultiselect, isCancel } from "@clack/prompts";
import { messageOf } from "../message-of.ts";
import { findLessons, select, type Selection, UnknownNameError } from "../runner/lessons.ts";
import type { FlowResult, GauntletResult } from "../runner/gauntlet.ts";
import { type AnyVariant, VARIANTS } from "../pair.ts";
import type { PairResult, Progress } from "../runner/progress.ts";
import { colorsFor } from "./colors.ts";
import {
  crashLine,
  jsonRow,
  lessonLine,
  lostLine,
  pairBlock,
  summaryLine,
  unreadableBlock,
  unreadableRow,
} from "./output.ts";
import { flowBlock, gauntletBlock, gauntletRow, gauntletSummary } from "./gauntlet.ts";
import { ProgressLine } from "./progress-line.ts";
import { Stop, STOPPED } from "./stop.ts";
import { type TypeHint, typeHints } from "./type-hints.ts";
import { parseWords, SECONDS, timeoutOf, UsageError } from "./words.ts";

/** What the exit codes mean. */
const EXIT = {
  /** Everything was as expected. */
  ok: 0,
  /** Some evidence was not as expected, or a run did not end. */
  different: 1,
  /** The call was wrong; nothing was run. */
  usage: 2,
} as const;

/** Less room than this is too little for what the runtime stores. */
const FULL_MEGABYTES = 20;

const HELP = `Runs pitfalls beside their fixes on the real runtime, and kills it.

Usage: pnpm compare [lesson[/pair]] … [--gauntlet] [--json]

  lesson          01, or the full name of its folder in apps/
  lesson/pair     one pair, such as 01/side-effect-outside-step
                  Without names it offers a list on a terminal, and runs everything elsewhere.

Options
  --gauntlet      run both variants under every fault, one at a time, and show
                  which rules they break
  --fixes         with --gauntlet: only the fixes, as pnpm gauntlet does
  --json          print one JSON array on standard output and nothing else
  --timeout N     seconds that one run may take, 120 by default
  --help, -h      print this

Exit code: 0 all as expected, 1 some not, 2 wrong arguments, 130 after Ctrl-C.
`;

/**
 * The command `pnpm compare`.
 *
 * @param args the words after the command
 * @param appsDir the folder of the lessons; the option `--apps` names another one (for the lab's own tests)
 * @returns the exit code
 */
export async function runCli(args: string[], appsDir: string): Promise<number> {
  const { stdin, stdout, stderr } = process;
  let options;
  try {
    options = parse(args);
  } catch (error) {
    stderr.write(`${messageOf(error)}\nTry: pnpm compare --help\n`);
    return EXIT.usage;
  }
  const { names, json, help, timeoutMs, gauntlet, fixes, apps = appsDir } = options;
  if (help) {
    stdout.write(HELP);
    return EXIT.ok;
  }

  let selections: Selection[];
  try {
    const lessons = await findLessons(apps);
    if (lessons.length === 0) throw new UnknownNameError(`There are no lessons in ${apps}.`);
    selections = await select(lessons, names);
  } catch (error) {
    if (!(error instanceof UnknownNameError)) throw error;
    stderr.write(`${error.message}\n`);
    return EXIT.usage;
  }
  if (names.length === 0 && !json && stdin.isTTY && stdout.isTTY) {
    const chosen = await offer(selections);
    if (!chosen) return STOPPED.SIGINT;
    selections = chosen;
  }

  const line = new ProgressLine(stderr, Boolean(stderr.isTTY && stdout.isTTY));
  using stop = new Stop(() => {
    line.clear();
    stderr.write("Stopped.\n");
  });

  const colors = colorsFor(stdout);
  const rows: { ok: boolean }[] = [];
  const print = (text: string) => {
    if (json) return;
    line.clear();
    stdout.write(`${text}\n`);
  };
  const hints = new Map<string, Promise<TypeHint[]>>();
  const hintsOf = async ({ lesson, pair }: PairResult) =>
    ((await hints.get(lesson)) ?? []).filter((hint) => hint.pair === pair.id);
  let failure: string | undefined;
  const lost = (
    progress: Extract<Progress<AnyVariant>, { type: "pair-unreadable" | "runtime-lost" }>,
  ) => {
    if (progress.type === "runtime-lost") return print(lostLine(progress, colors));
    rows.push(unreadableRow(progress));
    print(unreadableBlock(progress, colors));
  };
  // What runs lessons brings wrangler along, which takes a second or two: who asks for help, or errs, need not wait for it.
  async function takeThroughGauntlet() {
    const { runGauntlet } = await import("../runner/gauntlet.ts");
    const variants = fixes ? (["fix"] as const) : VARIANTS;
    const { signal } = stop;
    const results: GauntletResult[] = [];
    const flowResults: FlowResult[] = [];
    // Two lessons are tried at once, and told one after the other.
    const crashes = new Map<string, string>();
    let headed: string | undefined;
    const head = (lesson: string) => {
      if (headed === lesson) return;
      headed = lesson;
      print(lessonLine(lesson, colors));
      const crash = crashes.get(lesson);
      if (crash) print(crash);
    };
    for await (const progress of runGauntlet(selections, {
      signal,
      variants,
      runTimeoutMs: timeoutMs,
    })) {
      line.showGauntlet(progress);
      switch (progress.type) {
        case "crashed":
          crashes.set(progress.lesson, crashLine(progress, colors));
          break;
        case "pair-unreadable":
          head(progress.lesson);
          lost(progress);
          break;
        case "runtime-lost":
          lost(progress);
          break;
        case "pair-judged":
          for (const { lesson } of progress.results) head(lesson);
          results.push(...progress.results);
          rows.push(...progress.results.map(gauntletRow));
          print(gauntletBlock(progress.results, colors));
          break;
        case "flow-judged":
          flowResults.push(progress.result);
          rows.push(progress.result);
          print(flowBlock(progress.result, colors));
          break;
        case "flow-trial-ended":
        case "starting":
        case "trials":
        case "trial-ended":
          break;
      }
    }
    summary = gauntletSummary(results, flowResults, colors);
  }
  async function compare() {
    const { comparePairs } = await import("../runner/compare.ts");
    for await (const progress of comparePairs(selections, {
      signal: stop.signal,
      runTimeoutMs: timeoutMs,
    })) {
      line.show(progress);
      if (progress.type === "starting") {
        const lesson = selections.find(
          (selection) => selection.lesson.id === progress.lesson,
        )?.lesson;
        if (lesson) hints.set(lesson.id, typeHints(lesson));
        print(lessonLine(progress.lesson, colors));
      }
      if (progress.type === "crashed") print(crashLine(progress, colors));
      if (progress.type === "runtime-lost" || progress.type === "pair-unreadable") lost(progress);
      if (progress.type === "pair-compared") {
        const found = await hintsOf(progress.result);
        rows.push(jsonRow(progress.result, found));
        print(pairBlock(progress.result, colors, found));
      }
    }
    summary = summaryLine(rows, colors);
  }
  let summary = "";
  try {
    await (gauntlet ? takeThroughGauntlet() : compare());
  } catch (error) {
    failure = messageOf(error);
  } finally {
    line.clear();
  }
  if (stop.exitCode !== undefined) return stop.exitCode;
  if (failure) stderr.write(`The comparison failed: ${failure}\n`);
  const ok = failure === undefined && rows.every((row) => row.ok);
  if (!ok) stderr.write(await fullDisk());
  if (json) stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
  else print(summary || summaryLine(rows, colors));
  return ok ? EXIT.ok : EXIT.different;
}

/** A sentence about the disk, where it is full: then what fails says "internal error" at most. */
async function fullDisk(): Promise<string> {
  const { bavail, bsize } = await statfs(tmpdir());
  const megabytes = Math.round((bavail * bsize) / 1e6);
  if (megabytes >= FULL_MEGABYTES) return "";
  return `The disk of ${tmpdir()} is full: ${megabytes} MB are left. Free some space, or set TMPDIR to another folder.\n`;
}

function parse(args: string[]) {
  const { values, positionals } = parseWords(
    args,
    {
      apps: { type: "string" },
      fixes: { type: "boolean", default: false },
      gauntlet: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
      json: { type: "boolean", default: false },
      timeout: { type: "string", default: "120" },
    },
    { "--apps": "a folder", "--timeout": SECONDS },
  );
  const timeoutMs = timeoutOf(values.timeout);
  const { help, json, apps, gauntlet, fixes } = values;
  if (fixes && !gauntlet) throw new UsageError("--fixes needs --gauntlet.");
  return { names: positionals, help, json, apps, gauntlet, fixes, timeoutMs };
}

async function offer(selections: Selection[]): Promise<Selection[] | null> {
  const chosen = await autocompleteMultiselect({
    message: "Which pairs should run? (type to filter, tab selects, enter runs)",
    options: selections.flatMap(({ lesson, pairs }) =>
      pairs.map((pair) => ({
        value: `${lesson.id}/${pair.id}`,
        label: `${lesson.id.slice(0, 2)}/${pair.id}`,
        hint: pair.claim,
      })),
    ),
    required: true,
    maxItems: 16,
  });
  if (isCancel(chosen)) return null;
  return selections.flatMap(({ lesson, pairs, broken }) => {
    const wanted = pairs.filter((pair) => chosen.includes(`${lesson.id}/${pair.id}`));
    return wanted.length > 0 ? [{ lesson, pairs: wanted, broken }] : [];
  });
}
