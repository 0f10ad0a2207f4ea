/** The reader's own attempt at a pair: a file `yours.ts` in its folder, which git ignores and no deploy sees. */
import { constants } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Pair } from "../pair.ts";
import { type LessonFolder, pitfallsOf, yoursOf } from "./read-lesson.ts";

export { yoursOf } from "./read-lesson.ts";

/** Is there code to repair? Not where the settings of the two queues are the lesson. */
export const isExercise = (pair: Pair): boolean =>
  !(pair.engine !== "workflow" && pair.queue && "pitfall" in pair.queue);

/** The pair, for a lab that is to run the reader's own attempt too. */
export const withYours = (lesson: LessonFolder, pair: Pair): Pair => ({
  ...pair,
  yours: () => import(pathToFileURL(yoursOf(lesson, pair.id)).href),
});

/**
 * Begins an attempt as a copy of the pitfall. One that is there stays.
 *
 * @returns was it begun now?
 * @throws Error where the file cannot be written
 */
export async function beginYours(lesson: LessonFolder, pair: string): Promise<boolean> {
  try {
    await copyFile(pitfallOf(lesson, pair), yoursOf(lesson, pair), constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/** Makes the attempt the pitfall again, whatever it is. */
export const resetYours = (lesson: LessonFolder, pair: string): Promise<void> =>
  copyFile(pitfallOf(lesson, pair), yoursOf(lesson, pair));

const pitfallOf = ({ dir }: LessonFolder, pair: string) =>
  join(pitfallsOf(dir), pair, "pitfall.ts");
