import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Pair } from "../pair.ts";

/** A lesson with pairs: one folder of `apps/`. */
export interface Lesson {
  /** The folder's name, such as `01-onboarding-workflow`. */
  id: string;
  /** Absolute path of the folder. */
  dir: string;
  /** In reading order. */
  pairs: Pair[];
}

/** A lesson and those of its pairs that were asked for. */
export interface Selection {
  lesson: Lesson;
  pairs: Pair[];
}

/** A name that is no lesson and no pair. */
export class UnknownNameError extends Error {
  override readonly name = "UnknownNameError";
}

/**
 * Finds the lessons that have pairs.
 *
 * @param appsDir the folder of the lessons
 * @param options `fresh`: read pairs again that have changed since this process read them first
 */
export async function findLessons(
  appsDir: string,
  options: { fresh?: boolean } = {},
): Promise<Lesson[]> {
  const entries = await readdir(appsDir, { withFileTypes: true }).catch(() => []);
  const ids = entries
    .filter((entry) => entry.isDirectory() && /^\d\d-/.test(entry.name))
    .map((entry) => entry.name)
    .toSorted();
  const lessons = await Promise.all(
    ids.map(async (id) => {
      const dir = join(appsDir, id);
      return { id, dir, pairs: await readPairs(join(dir, "src", "pitfalls"), options) };
    }),
  );
  return lessons.filter((lesson) => lesson.pairs.length > 0);
}

/**
 * Reads `pair.ts` of every pair. The variants beside it are code for Workers and are left alone; their list,
 * `index.ts`, is only looked at, for the pairs' names and their order.
 */
export async function readPairs(
  dir: string,
  { fresh = false }: { fresh?: boolean } = {},
): Promise<Pair[]> {
  const index = await readFile(join(dir, "index.ts"), "utf8").catch(() => "");
  const imported = index.matchAll(/import (\w+) from "\.\/([a-z0-9-]+)\/pair\.ts"/g);
  const folders = new Map([...imported].map(([, name, folder]) => [name, folder]));
  const listed = index.matchAll(/\.\.\.(\w+)/g);
  const ids = [...listed].flatMap(([, name]) => folders.get(name) ?? []);
  return Promise.all(
    ids.map(async (id) => {
      const file = join(dir, id, "pair.ts");
      // Node keeps a module for each URL.
      const version = fresh ? `?v=${Math.trunc((await stat(file)).mtimeMs)}` : "";
      const module: { default: Pair } = await import(pathToFileURL(file).href + version);
      return module.default;
    }),
  );
}

/**
 * Resolves names as the command line takes them.
 *
 * @param names `01`, `01-onboarding-workflow`, `01/double-submit`, …; none means all
 * @throws UnknownNameError where a name is not known; its message lists those there are
 */
export function select(lessons: readonly Lesson[], names: readonly string[]): Selection[] {
  if (names.length === 0) return lessons.map((lesson) => ({ lesson, pairs: lesson.pairs }));
  const wanted = new Map<Lesson, Set<Pair>>();
  for (const name of names) {
    const { lesson, pairs } = resolve(lessons, name);
    const chosen = wanted.get(lesson) ?? new Set();
    for (const pair of pairs) chosen.add(pair);
    wanted.set(lesson, chosen);
  }
  return lessons.flatMap((lesson) => {
    const chosen = wanted.get(lesson);
    return chosen ? [{ lesson, pairs: lesson.pairs.filter((pair) => chosen.has(pair)) }] : [];
  });
}

function resolve(lessons: readonly Lesson[], name: string): Selection {
  const [lessonName = "", pairName, ...rest] = name.replace(/\/$/, "").split("/");
  const lesson = lessons.find(
    ({ id }) => id === lessonName || id.slice(0, 2) === lessonName.padStart(2, "0"),
  );
  if (!lesson) {
    throw new UnknownNameError(
      `There is no lesson "${lessonName}". The lessons are:\n${list(lessons.map(({ id }) => id))}`,
    );
  }
  if (pairName === undefined) return { lesson, pairs: lesson.pairs };
  const pair = lesson.pairs.find(({ id }) => id === pairName);
  if (!pair || rest.length > 0) {
    throw new UnknownNameError(
      `Lesson ${lesson.id} has no pair "${[pairName, ...rest].join("/")}". Its pairs are:\n` +
        list(lesson.pairs.map(({ id }) => `${lesson.id.slice(0, 2)}/${id}`)),
    );
  }
  return { lesson, pairs: [pair] };
}

const list = (names: string[]) => names.map((name) => `  ${name}`).join("\n");
