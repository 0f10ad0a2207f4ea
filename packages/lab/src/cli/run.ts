import { relative } from "node:path";
import { parseArgs } from "node:util";
import { isCancel, multiselect } from "@clack/prompts";
import { comparePairs } from "../runner/compare.ts";
import { findLessons, select, type Selection, UnknownNameError } from "../runner/lessons.ts";
import type { PairResult } from "../runner/progress.ts";
import { colorsFor } from "./colors.ts";
import { asJson, crashLine, lessonLine, pairBlock, summaryLine } from "./output.ts";
import { ProgressLine } from "./progress-line.ts";

/** What the exit codes mean. */
const EXIT = {
  /** Everything was as expected. */
  ok: 0,
  /** Some evidence was not as expected, or a run did not end. */
  different: 1,
  /** The call was wrong; nothing was run. */
  usage: 2,
  /** Ended by Ctrl-C, as a shell reports it. */
  interrupted: 130,
  /** Ended by SIGTERM, as a shell reports it. */
  terminated: 143,
} as const;

const HELP = `Runs pitfalls beside their fixes on the real runtime, and kills it under them.

Usage: pnpm compare [lesson[/pair]] … [--json]

  lesson          01, or the whole name of its folder in apps/
  lesson/pair     one pair of it, such as 01/side-effect-outside-step
                  On a terminal without names it offers a list; elsewhere it runs everything.

Options
  --json          print one JSON array on standard output and nothing else
  --timeout N     seconds that one run may take, 120 by default
  --help, -h      print this

Exit code: 0 all as expected, 1 some not, 2 the call was wrong, 130 after Ctrl-C.
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
  const { names, json, help, timeoutMs, apps = appsDir } = options;
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
    if (!chosen) return EXIT.interrupted;
    selections = chosen;
  }

  const broken = selections.flatMap((selection) => selection.broken);
  for (const { pair, file, line = 1, message } of broken) {
    stderr.write(`Cannot read ${pair}: ${message}\n  ${relative(process.cwd(), file)}:${line}\n`);
  }
  selections = selections.filter(({ pairs }) => pairs.length > 0);

  const line = new ProgressLine(stderr, Boolean(stderr.isTTY && stdout.isTTY));
  const stopped = new AbortController();
  let exitCode: number | undefined;
  // While workerd is up, miniflare's own listener is called next: it kills workerd and exits with the same code.
  const stop = (code: number) => () => {
    if (exitCode !== undefined) process.exit(code);
    line.clear();
    stderr.write("Stopped.\n");
    exitCode = code;
    stopped.abort();
  };
  const [onInterrupt, onTerminate] = [stop(EXIT.interrupted), stop(EXIT.terminated)];
  process.on("SIGINT", onInterrupt).on("SIGTERM", onTerminate);

  const colors = colorsFor(stdout);
  const results: PairResult[] = [];
  const print = (text: string) => {
    if (json) return;
    line.clear();
    stdout.write(`${text}\n`);
  };
  try {
    for await (const progress of comparePairs(selections, {
      signal: stopped.signal,
      runTimeoutMs: timeoutMs,
    })) {
      line.show(progress);
      if (progress.type === "starting") print(lessonLine(progress.lesson, colors));
      if (progress.type === "crashed") print(crashLine(progress, colors));
      if (progress.type === "pair-compared") {
        results.push(progress.result);
        print(pairBlock(progress.result, colors));
      }
    }
  } catch (error) {
    if (exitCode === undefined) {
      line.clear();
      stderr.write(`The comparison broke off: ${messageOf(error)}\n`);
      return EXIT.different;
    }
  } finally {
    line.clear();
    process.off("SIGINT", onInterrupt).off("SIGTERM", onTerminate);
  }
  if (exitCode !== undefined) return exitCode;
  if (json) stdout.write(`${JSON.stringify(asJson(results), null, 2)}\n`);
  else print(summaryLine(results, colors));
  return results.every(({ ok }) => ok) && broken.length === 0 ? EXIT.ok : EXIT.different;
}

function parse(args: string[]) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      apps: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
      json: { type: "boolean", default: false },
      timeout: { type: "string", default: "120" },
    },
  });
  const seconds = Number(values.timeout);
  if (!(seconds > 0 && seconds <= 3600)) {
    throw new Error(
      `--timeout takes seconds, more than 0 and at most 3600, not "${values.timeout}".`,
    );
  }
  const { help, json, apps } = values;
  return { names: positionals, help, json, apps, timeoutMs: seconds * 1000 };
}

async function offer(selections: Selection[]): Promise<Selection[] | null> {
  const chosen = await multiselect({
    message: "Which pairs shall run? (space chooses, a chooses all, enter runs)",
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
  return isCancel(chosen)
    ? null
    : select(
        selections.map(({ lesson }) => lesson),
        chosen,
      );
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
