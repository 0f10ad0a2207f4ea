import { dirname } from "node:path";
import { messageOf } from "../message-of.ts";
import {
  progressFileOf,
  type PracticeProgress,
  noteSolved,
  readProgress,
  writeProgress,
} from "../practice-progress.ts";
import { findLessons, resolveName, select, UnknownNameError } from "../runner/lessons.ts";
import { beginYours, isExercise, resetYours } from "../runner/yours.ts";
import { colorsFor } from "./colors.ts";
import {
  type Exercise,
  exercisesOf,
  nextUnsolved,
  type PracticeSetting,
} from "./practice-exercises.ts";
import {
  attemptBlock,
  attemptRow,
  listBlock,
  noExercise,
  STAGES,
  taskBlock,
} from "./practice-output.ts";
import { Stop } from "./stop.ts";
import { parseWords, SECONDS, timeoutOf, UsageError } from "./words.ts";

/** What the exit codes mean. */
const EXIT = {
  /** Solved, or there was nothing to solve. */
  ok: 0,
  /** Not yet. */
  notYet: 1,
  /** The call was wrong; nothing was run. */
  usage: 2,
} as const;

const HELP = `Your turn: repair a pitfall, and see what happens outside.

Usage: pnpm practice [lesson/pair] [--once] [--json]
       pnpm practice list [--json]
       pnpm practice reset lesson/pair

  lesson/pair     such as 01/side-effect-outside-step; without it, the next one that is not solved
  list            all pairs, with what is solved
  reset           your file is the pitfall again, and the pair is not solved

Your file is yours.ts beside pitfall.ts and fix.ts. It begins as a copy of the pitfall; git ignores it.
Each time you save it, its types are checked, it is run while the runtime is killed under it, and what
happened outside is shown beside the goal. Once that is right it has to survive the other faults that
the fix survives. While it watches: h hint, n next, r reset, l list, q quit.

Options
  --once          judge the file as it is and end; so it is without a terminal, too
  --json          print one JSON value on standard output and nothing else; with --once
  --timeout N     seconds that one run may take, 30 by default
  --help, -h      print this

Exit code: 0 solved, 1 not yet, 2 wrong arguments, 130 after Ctrl-C.
`;

/**
 * The command `pnpm practice`.
 *
 * @param args the words after the command
 * @param appsDir the folder of the lessons; the option `--apps` names another one (for the lab's own tests)
 * @returns the exit code
 */
export async function runPracticeCli(args: string[], appsDir: string): Promise<number> {
  const { stdin, stdout, stderr } = process;
  try {
    const { words, help, json, once, runTimeoutMs, apps = appsDir } = parse(args);
    if (help) {
      stdout.write(HELP);
      return EXIT.ok;
    }
    const folders = await findLessons(apps);
    if (folders.length === 0) throw new UnknownNameError(`There are no lessons in ${apps}.`);
    const name = words.pair;
    if (name !== undefined && resolveName(folders, name).pair === undefined) {
      throw new UsageError(`"${name}" is a lesson. Name a pair of it, such as ${name}/some-pair.`);
    }
    const chosen = name === undefined ? undefined : await select(folders, [name]);
    const exercises = await exercisesOf(await select(folders, []));
    const progressFile = progressFileOf(dirname(apps));
    const setting = { exercises, progressFile, runTimeoutMs };
    const progress = await readProgress(progressFile);
    if (words.action === "list") {
      stdout.write(json ? jsonList(exercises, progress) : textList(exercises, progress));
      return EXIT.ok;
    }
    const broken = chosen?.flatMap((selection) => selection.broken)[0];
    if (broken) throw new UsageError(`${broken.pair} cannot be read: ${broken.message}`);
    const [wanted] = chosen ? await exercisesOf(chosen) : [];
    const exercise = wanted ?? nextUnsolved(exercises, progress);
    if (!exercise) {
      stdout.write(json ? "null\n" : "All pairs are solved.\n");
      return EXIT.ok;
    }
    if (!isExercise(exercise.pair)) {
      stdout.write(json ? "null\n" : `${noExercise(exercise)}\n`);
      return EXIT.ok;
    }
    if (words.action === "reset") {
      await resetYours(exercise.lesson, exercise.pair.id);
      await writeProgress(progressFile, exercise.name, null);
      stdout.write(`${exercise.name} is the pitfall again.\n`);
      return EXIT.ok;
    }
    if (once || json || !stdin.isTTY || !stdout.isTTY) {
      return await judgeOnce(exercise, setting, json);
    }
    const { watchPairs } = await import("./practice-watch.ts");
    return await watchPairs(exercise, setting);
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof UnknownNameError)) throw error;
    const hint = error instanceof UsageError ? "\nTry: pnpm practice --help" : "";
    stderr.write(`${error.message}${hint}\n`);
    return EXIT.usage;
  }
}

function parse(args: string[]) {
  const { values, positionals } = parseWords(
    args,
    {
      apps: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
      json: { type: "boolean", default: false },
      once: { type: "boolean", default: false },
      timeout: { type: "string", default: "30" },
    },
    { "--apps": "a folder", "--timeout": SECONDS },
  );
  const { timeout, ...rest } = values;
  return { ...rest, runTimeoutMs: timeoutOf(timeout), words: wordsOf(positionals) };
}

/** @throws UsageError */
function wordsOf(positionals: string[]): {
  action: "list" | "practice" | "reset";
  pair: string | undefined;
} {
  const [first, ...rest] = positionals;
  if (first === "list") {
    if (rest.length > 0) throw new UsageError("practice list takes no name.");
    return { action: "list", pair: undefined };
  }
  const action = first === "reset" ? "reset" : "practice";
  const names = action === "reset" ? rest : positionals;
  if (names.length > 1) throw new UsageError("One pair at a time.");
  if (action === "reset" && names.length === 0) {
    throw new UsageError("practice reset takes the name of a pair, such as 01/double-submit.");
  }
  return { action, pair: names[0] };
}

const textList = (exercises: readonly Exercise[], progress: PracticeProgress) =>
  `${listBlock(exercises, progress, colorsFor(process.stdout))}\n`;

function jsonList(exercises: readonly Exercise[], progress: PracticeProgress): string {
  const rows = exercises.map(({ name, pair, isBegun }) => ({
    pair: name,
    title: pair.title,
    isExercise: isExercise(pair),
    isBegun,
    solvedAt: progress[name]?.solvedAt ?? null,
  }));
  return `${JSON.stringify(rows, null, 2)}\n`;
}

/** Judges one attempt as it is. */
async function judgeOnce(
  exercise: Exercise,
  { progressFile, runTimeoutMs }: PracticeSetting,
  json: boolean,
): Promise<number> {
  const { stdout, stderr } = process;
  const { lesson, pair, name } = exercise;
  const colors = colorsFor(stdout);
  const print = (text: string) => {
    if (!json) stdout.write(`${text}\n`);
  };
  await beginYours(lesson, pair.id);
  print(taskBlock(exercise, colors));
  using stop = new Stop(() => stderr.write("Stopped.\n"));
  // What runs lessons brings wrangler along, which takes a second or two: who asks for help, or errs, need not wait for it.
  const { Practice } = await import("../runner/practice.ts");
  const practice = new Practice(lesson, pair, { runTimeoutMs });
  try {
    const attempt = await practice.attempt(stop.signal, (stage) =>
      print(colors.dim(`  … ${STAGES[stage]}`)),
    );
    print(attemptBlock(attempt, colors));
    if (json) stdout.write(`${JSON.stringify(attemptRow(practice, attempt), null, 2)}\n`);
    if (attempt.solved) await noteSolved(progressFile, name);
    return attempt.solved ? EXIT.ok : EXIT.notYet;
  } catch (error) {
    if (stop.exitCode !== undefined) return stop.exitCode;
    stderr.write(`The practice failed: ${messageOf(error)}\n`);
    return EXIT.notYet;
  } finally {
    await practice.close();
  }
}
