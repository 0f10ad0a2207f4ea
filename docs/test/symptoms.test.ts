import { existsSync } from "node:fs";
import { join } from "node:path";
import { SYMPTOMS } from "@durable-lessons/lab";
import { nameOfPair, readLessons } from "@durable-lessons/lab/runner";
import { expect, test } from "vitest";

const docs = join(import.meta.dirname, "..");
const lessons = await readLessons(join(docs, "..", "apps"));
// A lesson that has its text has all its pairs.
const written = lessons.filter(({ id }) => existsSync(join(docs, "lessons", `${id}.md`)));

test("every pair of a lesson that is written has a symptom, so that the catalogue finds it", () => {
  const without = written.flatMap((lesson) =>
    lesson.pairs.filter(({ symptom }) => !symptom).map((pair) => nameOfPair(lesson, pair)),
  );
  expect(without).toEqual([]);
});

test("symptoms are those that the catalogue knows", () => {
  const used = new Set(lessons.flatMap(({ pairs }) => pairs.map(({ symptom }) => symptom)));
  used.delete(undefined);
  expect(SYMPTOMS).toEqual(expect.arrayContaining([...used]));
});
