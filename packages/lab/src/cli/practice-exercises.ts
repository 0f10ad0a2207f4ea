import type { Pair } from "../pair.ts";
import type { PracticeProgress } from "../practice-progress.ts";
import type { Lesson, Selection } from "../runner/lessons.ts";
import { mtimeOf, nameOfPair, yoursOf } from "../runner/read-lesson.ts";
import { isExercise } from "../runner/yours.ts";

/** A pair, as something to do. */
export interface Exercise {
  /** `01/double-submit`. */
  name: string;
  lesson: Lesson;
  pair: Pair;
  /** Absolute path of the reader's own attempt. */
  file: string;
  /** Is that there? */
  isBegun: boolean;
}

/** What the commands need. */
export interface PracticeSetting {
  /** All of the pairs. */
  exercises: readonly Exercise[];
  /** The file that holds what is solved. */
  progressFile: string;
  runTimeoutMs: number;
}

/** All pairs that were asked for, in their order. */
export function exercisesOf(selections: readonly Selection[]): Promise<Exercise[]> {
  const all = selections.flatMap(({ lesson, pairs }) => pairs.map((pair) => ({ lesson, pair })));
  return Promise.all(
    all.map(async ({ lesson, pair }) => {
      const file = yoursOf(lesson, pair.id);
      const isBegun = (await mtimeOf(file)) !== null;
      return { name: nameOfPair(lesson, pair), lesson, pair, file, isBegun };
    }),
  );
}

/** The first that is not solved, from the one after `after` on and round again; undefined once all are. */
export function nextUnsolved(
  exercises: readonly Exercise[],
  progress: PracticeProgress,
  after?: string,
): Exercise | undefined {
  const from = exercises.findIndex(({ name }) => name === after) + 1;
  return [...exercises.slice(from), ...exercises.slice(0, from)].find(
    ({ name, pair }) => isExercise(pair) && !progress[name]?.solvedAt && name !== after,
  );
}
