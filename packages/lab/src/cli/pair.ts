import { missingOf, unlistedPairs } from "../authoring/missing.ts";
import { newPair, NewPairError } from "../authoring/new-pair.ts";
import { STUBS } from "../authoring/stubs.ts";
import type { Pair } from "../pair.ts";
import {
  findLessons,
  type LessonFolder,
  readLesson,
  resolveName,
  UnknownNameError,
} from "../runner/lessons.ts";
import { parseWords, UsageError } from "./words.ts";

/** What the exit codes mean. */
const EXIT = {
  ok: 0,
  /** A pair is not finished. */
  missing: 1,
  /** The call was wrong; nothing was written. */
  usage: 2,
} as const;

const HELP = `Creates a pair, a pitfall and its fix, and checks what a pair lacks.

Usage: pnpm pair new lesson/name [--engine workflow|queue|http]
       pnpm pair check [lesson[/pair]] …

  new             writes three files that already run into apps/NN-…/src/pitfalls/name, adds the pair to the
                  lesson's list and README, and says what is left to do by hand
  check           says what each pair lacks: files, text, the other language, claims, recording

Options
  --engine NAME   what runs the pair's code: a workflow (default), a queue, or a request (http)
  --help, -h      print this

Exit code: 0 done, or nothing is missing; 1 something is missing; 2 wrong arguments, nothing was written.
`;

/**
 * The command `pnpm pair`.
 *
 * @param args the words after the command
 * @param appsDir the folder of the lessons; the option `--apps` names another one (for the lab's own tests)
 * @returns the exit code
 */
export async function runPairCli(args: string[], appsDir: string): Promise<number> {
  const { stdout, stderr } = process;
  try {
    const { action, names, engine, help, apps = appsDir } = parse(args);
    if (help) {
      stdout.write(HELP);
      return EXIT.ok;
    }
    const folders = await findLessons(apps);
    if (folders.length === 0) throw new UnknownNameError(`There are no lessons in ${apps}.`);
    return action === "new" ? create(folders, names, engine) : await check(folders, names);
  } catch (error) {
    const isUsage = error instanceof UsageError || error instanceof NewPairError;
    if (!isUsage && !(error instanceof UnknownNameError)) throw error;
    const hint = error instanceof UsageError ? "\nTry: pnpm pair --help" : "";
    stderr.write(`${error.message}${hint}\n`);
    return EXIT.usage;
  }
}

function parse(args: string[]) {
  const { values, positionals } = parseWords(
    args,
    {
      apps: { type: "string" },
      engine: { type: "string", default: "workflow" },
      help: { type: "boolean", short: "h", default: false },
    },
    { "--apps": "a value", "--engine": "a value" },
  );
  const [action, ...names] = positionals;
  const engine = ENGINES.find((known) => known === values.engine);
  const { help, apps } = values;
  if (!help) {
    if (action !== "new" && action !== "check") {
      throw new UsageError(action ? `There is no "pair ${action}".` : "Say new, or check.");
    }
    if (!engine) {
      throw new UsageError(`--engine takes ${ENGINES.join(", ")}, not "${values.engine}".`);
    }
    if (action === "new" && names.length !== 1) {
      throw new UsageError("pair new takes one name, such as 01/my-pitfall.");
    }
  }
  return { action, names, engine: engine ?? "workflow", help, apps };
}

const ENGINES = Object.keys(STUBS) as Pair["engine"][];

function create(
  folders: readonly LessonFolder[],
  [word = ""]: string[],
  engine: Pair["engine"],
): number {
  const { folder, pair } = resolveName(folders, word);
  if (pair === undefined) throw new UsageError(`"${word}" names no pair: say ${word}/my-pitfall.`);
  const written = newPair(folder, pair, engine);
  const number = folder.id.slice(0, 2);
  const name = `${number}/${pair}`;
  process.stdout.write(`${written.map((file) => `  apps/${folder.id}/${file}`).join("\n")}

It runs: pnpm compare ${name}. What is to be done by hand:

  1. src/pitfalls/${pair}/: what its files mark TODO; its place in index.ts; its row in the lesson's README
  2. docs/claims.md: \`${name}\` at every claim that it names
  3. docs/lessons/${folder.id}.md: a section that shows /${pair}/pitfall.ts and /${pair}/fix.ts
  4. docs/zh-TW: the same section and claims; its words in docs/i18n/pairs.zh-TW.ts
  5. docs/recorded: pnpm --filter @durable-lessons/docs record ${number}, and record:gauntlet ${name}

pnpm pair check ${name} says what is still missing.
`);
  return EXIT.ok;
}

async function check(folders: readonly LessonFolder[], names: string[]): Promise<number> {
  const wanted = names.map((name) => resolveName(folders, name));
  let checked = 0;
  let unfinished = 0;
  for (const folder of folders) {
    const here = wanted.filter((name) => name.folder === folder);
    if (names.length > 0 && here.length === 0) continue;
    const lesson = await readLesson(folder);
    const index = `apps/${lesson.id}/src/pitfalls/index.ts`;
    const found = [
      ...lesson.pairs.map((pair) => ({ id: pair.id, missing: () => missingOf(lesson, pair) })),
      ...lesson.broken.map(({ pair, file, message }) => ({
        id: pair,
        missing: async () => [{ file, message: `cannot be read: ${message}` }],
      })),
      ...(await unlistedPairs(lesson)).map((id) => ({
        id,
        missing: async () => [{ file: index, message: "its import, and its place in the list" }],
      })),
    ];
    for (const { pair } of here) {
      if (pair !== undefined && !found.some(({ id }) => id === pair)) {
        throw new UnknownNameError(
          `Lesson ${lesson.id} has no pair "${pair}". Its pairs are:\n${found.map(({ id }) => `  ${lesson.id.slice(0, 2)}/${id}`).join("\n")}`,
        );
      }
    }
    for (const { id, missing } of found) {
      const isWanted = here.some(({ pair }) => pair === undefined || pair === id);
      if (names.length > 0 && !isWanted) continue;
      checked++;
      const lines = (await missing()).map(({ file, message }) => `    ${file}: ${message}\n`);
      if (lines.length === 0) continue;
      unfinished++;
      process.stdout.write(`✗ ${lesson.id.slice(0, 2)}/${id} misses\n${lines.join("")}`);
    }
  }
  process.stdout.write(`${checked} pairs: ${checked - unfinished} finished, ${unfinished} not\n`);
  return unfinished > 0 ? EXIT.missing : EXIT.ok;
}
