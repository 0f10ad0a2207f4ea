import { readdir } from "node:fs/promises";
import { resolve } from "node:path";
import type { Pair } from "../pair.ts";
import {
  type BrokenPair,
  type Lesson,
  type LessonFolder,
  mtimeOf,
  pitfallsOf,
  readLesson,
  type ReadOptions,
} from "./read-lesson.ts";

export {
  type BrokenPair,
  type Lesson,
  type LessonFolder,
  nameOfPair,
  readLesson,
} from "./read-lesson.ts";

/** A lesson and those of its pairs that were asked for. */
export interface Selection {
  lesson: Lesson;
  pairs: Pair[];
  /** Asked for too, but they could not be read. */
  broken: BrokenPair[];
}

/** A name that is no lesson and no pair. */
export class UnknownNameError extends Error {
  override readonly name = "UnknownNameError";
}

/** Finds the lessons, in the order of their numbers: folders `NN-name` with a `src/pitfalls`. Loads none of their code. */
export async function findLessons(appsDir: string): Promise<LessonFolder[]> {
  const entries = await readdir(appsDir, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const lessons = await Promise.all(
    names
      .filter((name) => /^\d\d-/.test(name))
      .toSorted()
      .map(async (id) => {
        const dir = resolve(appsDir, id);
        return (await mtimeOf(pitfallsOf(dir))) === null ? [] : [{ id, dir }];
      }),
  );
  return lessons.flat();
}

/** Finds the lessons and reads them all. */
export async function readLessons(appsDir: string, options: ReadOptions = {}): Promise<Lesson[]> {
  const folders = await findLessons(appsDir);
  return Promise.all(folders.map((folder) => readLesson(folder, options)));
}

/**
 * Resolves names as the command line takes them, and reads the lessons that they name.
 *
 * @param folders the lessons that there are
 * @param names `01`, `01-onboarding-workflow`, `01/double-submit`, or a path as a shell completes it, such as
 *   `apps/01-onboarding-workflow/src/pitfalls/double-submit/fix.ts`; none means all
 * @throws UnknownNameError where a name is not known; its message lists those there are
 */
export async function select(
  folders: readonly LessonFolder[],
  names: readonly string[],
  options: ReadOptions = {},
): Promise<Selection[]> {
  const wanted = names.map((name) => resolveName(folders, name));
  const selections = folders.map(async (folder): Promise<Selection[]> => {
    const here = wanted.filter((name) => name.folder === folder);
    if (names.length > 0 && here.length === 0) return [];
    const lesson = await readLesson(folder, options);
    for (const { pair } of here) if (pair !== undefined) check(lesson, pair);
    const isWanted = (id: string) =>
      names.length === 0 || here.some(({ pair }) => pair === undefined || pair === id);
    return [
      {
        lesson,
        pairs: lesson.pairs.filter(({ id }) => isWanted(id)),
        broken: lesson.broken.filter(({ pair }) => isWanted(pair)),
      },
    ];
  });
  return (await Promise.all(selections)).flat();
}

/**
 * The lesson that a name means and, if it means one, its pair, which need not be there.
 *
 * @throws UnknownNameError where there is no such lesson
 */
export function resolveName(
  folders: readonly LessonFolder[],
  name: string,
): { folder: LessonFolder; pair: string | undefined } {
  const [lessonName = "", ...rest] = name
    .replace(/^(.*\/)?apps\//, "")
    .replace(/\/$/, "")
    .replace(/\/src\/pitfalls(?=\/|$)/, "")
    .split("/");
  const folder = folders.find(
    ({ id }) => id === lessonName || id.slice(0, 2) === lessonName.padStart(2, "0"),
  );
  if (!folder) {
    throw new UnknownNameError(
      `There is no lesson "${lessonName}". The lessons are:\n${list(folders.map(({ id }) => id))}`,
    );
  }
  if (rest.length === 2 && rest[1]?.endsWith(".ts")) rest.pop();
  return { folder, pair: rest.length === 0 ? undefined : rest.join("/") };
}

/** @throws UnknownNameError where the lesson has no such pair, not even one that could not be read */
function check({ id, pairs, broken }: Lesson, name: string): void {
  const short = (pair: string) => `${id.slice(0, 2)}/${pair}`;
  if (pairs.some((pair) => pair.id === name) || broken.some(({ pair }) => pair === name)) return;
  throw new UnknownNameError(
    `Lesson ${id} has no pair "${name}". Its pairs are:\n` +
      list([
        ...pairs.map((pair) => short(pair.id)),
        ...broken.map(({ pair, message }) => `${short(pair)} (cannot be read: ${message})`),
      ]),
  );
}

const list = (names: string[]) => names.map((name) => `  ${name}`).join("\n");
