import { glob, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  missingInLesson,
  missingOf,
  pairRows,
  unlistedPairs,
} from "@durable-lessons/lab/authoring";
import { readLessons } from "@durable-lessons/lab/runner";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const lessons = await readLessons(join(root, "apps"));
const folders = await Promise.all(
  lessons.flatMap(({ dir, id, pairs }) =>
    pairs.map(async (pair) => {
      const read = (file: string) => readFile(join(dir, "src", "pitfalls", pair.id, file), "utf8");
      const [pitfall, fix] = await Promise.all([read("pitfall.ts"), read("fix.ts")]);
      return { name: `${id.slice(0, 2)}/${pair.id}`, pair, pitfall, fix };
    }),
  ),
);

/** The functions that a variant exports, its own and those it passes on. */
const exportsOf = (source: string) =>
  [...source.matchAll(/^export (?:async )?(?:function |const |\{ )(\w+)/gm)]
    .flatMap(([, name]) => name ?? [])
    .toSorted();

const ENTRY = { workflow: "run", queue: "consume", http: "handle" } as const;

describe("pairs", () => {
  test("every folder with a pair is in its lesson's list", async () => {
    const found = await Array.fromAsync(glob("apps/*/src/pitfalls/*/pair.ts", { cwd: root }));
    const listed = lessons.flatMap(({ id, pairs }) =>
      pairs.map((pair) => join("apps", id, "src", "pitfalls", pair.id)),
    );
    expect(found.map((path) => dirname(path)).toSorted()).toEqual(listed.toSorted());
  });

  test.each(folders)("$name: no variant knows of the lab", ({ pitfall, fix }) => {
    for (const source of [pitfall, fix]) {
      expect(source).not.toMatch(/durable-lessons\/lab|\bPITFALLS\b|\bLAB\b/);
    }
  });

  test.each(folders)(
    "$name: both variants export what the engine calls",
    ({ pair, pitfall, fix }) => {
      expect(exportsOf(pitfall)).toContain(ENTRY[pair.engine]);
      expect(exportsOf(fix)).toContain(ENTRY[pair.engine]);
    },
  );

  test.each(folders)(
    "$name: pitfall and fix differ, and each fits a screen",
    ({ pitfall, fix }) => {
      expect(pitfall).not.toBe(fix);
      for (const source of [pitfall, fix])
        expect(source.split("\n").length).toBeLessThanOrEqual(60);
    },
  );

  test.each(folders)("$name: the evidence of the two sides differs", ({ pair }) => {
    expect(pair.expect.pitfall).not.toEqual(pair.expect.fix);
  });

  test.each(folders)("$name: nothing is missing", async ({ name, pair }) => {
    const lesson = lessons.find(({ id }) => id.startsWith(name.slice(0, 2)));
    expect(lesson && (await missingOf(lesson, pair))).toEqual([]);
  });
});

describe.each(lessons)("lesson $id", (lesson) => {
  test("has what a lesson has", async () => {
    expect(await missingInLesson(lesson)).toEqual([]);
    expect(await unlistedPairs(lesson)).toEqual([]);
  });

  test("has a table of its pairs, in reading order", async () => {
    const rows = pairRows(await readFile(join(lesson.dir, "README.md"), "utf8"));
    expect(rows.map(({ pair }) => pair)).toEqual(lesson.pairs.map(({ id }) => id));
  });
});
