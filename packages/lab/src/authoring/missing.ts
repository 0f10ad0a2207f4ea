import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Pair } from "../pair.ts";
import { type Lesson, mtimeOf, pitfallsOf } from "../runner/read-lesson.ts";
import { pairRows, wrongEvidence } from "./pair-table.ts";

/** Something that a pair or a lesson lacks. */
export interface Missing {
  /** Path from the root of the repository. */
  file: string;
  /** What it should have and has not. */
  message: string;
}

/** The files of a pair. */
const FILES = ["pair.ts", "pitfall.ts", "fix.ts"];

/**
 * What a pair lacks before it is finished: in its folder, in its lesson's README and text, in the other language, among
 * the claims and the recordings. What it lacks before it can be run is `broken` in its {@link Lesson}.
 *
 * @param lesson a lesson of this repository, in its folder `apps/`
 */
export async function missingOf(lesson: Lesson, pair: Pair): Promise<Missing[]> {
  const root = join(lesson.dir, "..", "..");
  const name = `${lesson.id.slice(0, 2)}/${pair.id}`;
  const missing: Missing[] = [];
  const want = (holds: boolean, file: string, message: string) => {
    if (!holds) missing.push({ file, message });
  };
  const textOf = (file: string) => readFile(join(root, file), "utf8").catch(() => "");

  const folder = `apps/${lesson.id}/src/pitfalls/${pair.id}`;
  for (const file of FILES) {
    const text = await textOf(`${folder}/${file}`);
    want(text !== "", `${folder}/${file}`, "the file");
    want(!text.includes("TODO"), `${folder}/${file}`, "what its TODO says");
  }
  want(
    pair.symptom !== undefined,
    `${folder}/pair.ts`,
    "a symptom, by which the catalogue finds it",
  );

  const readme = `apps/${lesson.id}/README.md`;
  const row = pairRows(await textOf(readme)).find((candidate) => candidate.pair === pair.id);
  want(row !== undefined, readme, `a row for \`${pair.id}\` in the table of pairs`);
  if (row) {
    want(!row.text.includes("TODO"), readme, `what the TODO in the row of \`${pair.id}\` says`);
    for (const wrong of wrongEvidence(row.evidence, pair.expect)) {
      want(false, readme, `the evidence of \`${pair.id}\`: ${wrong}`);
    }
  }

  for (const file of ["docs/claims.md", "docs/zh-TW/claims.md"]) {
    const rows = (await textOf(file)).split("\n");
    for (const id of pair.claims) {
      const claim = rows.find((line) => line.startsWith(`| ${id} |`));
      want(
        claim?.includes(`\`${name}\``) ?? false,
        file,
        `\`${name}\` at claim ${id}, which it names`,
      );
    }
  }
  for (const language of ["docs", "docs/zh-TW"]) {
    const file = `${language}/lessons/${lesson.id}.md`;
    const text = await textOf(file);
    const shows = ["pitfall.ts", "fix.ts"].every((side) => text.includes(`/${pair.id}/${side}`));
    want(shows, file, `a section that shows /${pair.id}/pitfall.ts and /${pair.id}/fix.ts`);
  }
  const words = "docs/i18n/pairs.zh-TW.ts";
  want(name in (await wordsIn(join(root, words))), words, `the words of "${name}"`);

  const recording = `docs/recorded/${lesson.id}.json`;
  want(
    (await textOf(recording)).includes(`"pair": "${pair.id}"`),
    recording,
    `the pair: run pnpm --filter @durable-lessons/docs record ${lesson.id.slice(0, 2)}`,
  );
  const gauntlet = `docs/recorded/gauntlet/${lesson.id}.json`;
  want(
    (await textOf(gauntlet)).includes(`"pair": "${pair.id}"`),
    gauntlet,
    `the pair: run pnpm --filter @durable-lessons/docs record:gauntlet ${name}`,
  );
  return missing;
}

/** The names of folders with a `pair.ts` that the lesson does not list. */
export async function unlistedPairs({ dir, pairs, broken }: Lesson): Promise<string[]> {
  const root = pitfallsOf(dir);
  const known = new Set([...pairs.map(({ id }) => id), ...broken.map(({ pair }) => pair)]);
  const names = (await readdir(root)).filter((name) => !known.has(name)).toSorted();
  const found = await Promise.all(
    names.map(async (name) =>
      (await mtimeOf(join(root, name, "pair.ts"))) === null ? [] : [name],
    ),
  );
  return found.flat();
}

async function wordsIn(file: string): Promise<object> {
  if ((await mtimeOf(file)) === null) return {};
  const module: { PAIRS_IN_CHINESE?: object } = await import(pathToFileURL(file).href);
  return module.PAIRS_IN_CHINESE ?? {};
}

/** What `apps/NN-name` has to have, beside a Worker's configuration. */
const LESSON_FILES = [
  "package.json",
  "README.md",
  "tsconfig.check.json",
  "tsconfig.json",
  "tsconfig.node.json",
  "vitest.config.ts",
  "src/pitfalls/index.ts",
  "src/what-to-try.ts",
];

/** The scripts of its package.json that the commands of the root call, or a reader does. */
const LESSON_SCRIPTS = [
  "check:deploy",
  "check:types",
  "deploy",
  "dev",
  "test",
  "typecheck",
  "types",
];

/** What the folder of a lesson lacks, and what the site lacks of it. Its pairs are {@link missingOf}'s. */
export async function missingInLesson({ id, dir }: Pick<Lesson, "dir" | "id">): Promise<Missing[]> {
  const root = dirname(dirname(dir));
  const folder = `apps/${id}`;
  const number = id.slice(0, 2);
  const missing: Missing[] = [];
  const want = (holds: boolean, file: string, message: string) => {
    if (!holds) missing.push({ file, message });
  };
  const textOf = (file: string) => readFile(join(root, file), "utf8").catch(() => "");

  for (const file of LESSON_FILES) {
    want((await mtimeOf(join(dir, file))) !== null, `${folder}/${file}`, "the file");
  }
  const configs = (await readdir(dir)).filter((file) => /^wrangler(\..+)?\.jsonc$/.test(file));
  want(configs.length > 0, `${folder}/wrangler.jsonc`, "the file");
  const manifest = await textOf(`${folder}/package.json`);
  const { name, scripts = {} }: { name?: string; scripts?: Record<string, string> } = JSON.parse(
    manifest || "{}",
  );
  want(name === `@durable-lessons/${id}`, `${folder}/package.json`, `name: @durable-lessons/${id}`);
  for (const script of LESSON_SCRIPTS) {
    want(scripts[script] !== undefined, `${folder}/package.json`, `the script ${script}`);
  }
  const port = `87${number}`;
  want(
    scripts["dev"]?.includes(`--port ${port}`) ?? false,
    `${folder}/package.json`,
    `dev --port ${port}`,
  );

  const readme = await textOf("README.md");
  want(readme.includes(`(apps/${id}/README.md)`), "README.md", `a link to apps/${id}/README.md`);
  want(readme.includes(`| ${port} |`), "README.md", `the port ${port} in the table of lessons`);
  for (const file of [
    `docs/lessons/${id}.md`,
    `docs/zh-TW/lessons/${id}.md`,
    `docs/recorded/${id}.json`,
  ]) {
    want((await textOf(file)) !== "", file, "the file");
  }
  return missing;
}
