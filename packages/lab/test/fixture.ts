import { join } from "node:path";
import type { Pair } from "../src/pair.ts";
import { type Lesson, LessonRuntime, readLessons, type Selection } from "../src/runner/index.ts";

/** The folder of the fixture's lessons. */
export const APPS = join(import.meta.dirname, "apps");

/** The lesson `99-fixture`. */
export async function fixtureLesson(): Promise<Lesson> {
  const [lesson] = await readLessons(APPS);
  if (!lesson) throw new Error(`There is no lesson in ${APPS}.`);
  return lesson;
}

/** The fixture with the lab in front, and these of its pairs, by id: all unless named. */
export async function startFixture(...ids: string[]): Promise<LessonRuntime> {
  const lesson = await fixtureLesson();
  const pairs = ids.map((id) => pairOf(lesson, id));
  return LessonRuntime.start(lesson.dir, {}, ids.length > 0 ? pairs : lesson.pairs);
}

/** The pair with this id. */
export function pairOf(lesson: Lesson, id: string): Pair {
  const pair = lesson.pairs.find((candidate) => candidate.id === id);
  if (!pair) throw new Error(`The fixture has no pair "${id}".`);
  return pair;
}

/** Pairs of the fixture, by id, or changed: a run takes its faults and its disturbance from the runner. */
export async function selection(...pairs: (Pair | string)[]): Promise<Selection[]> {
  const lesson = await fixtureLesson();
  const chosen = pairs.map((pair) => (typeof pair === "string" ? pairOf(lesson, pair) : pair));
  return [{ lesson, pairs: chosen, broken: [] }];
}
