import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Pair } from "../src/pair.ts";
import { findLessons, readPairs } from "../src/runner/lessons.ts";
import { type Lesson, select, UnknownNameError } from "../src/runner/index.ts";
import { APPS, fixtureLesson } from "./fixture.ts";

describe("findLessons", () => {
  let apps: string;
  beforeEach(async () => {
    apps = await mkdtemp(join(tmpdir(), "lessons-"));
  });
  afterEach(async () => {
    await rm(apps, { recursive: true });
  });

  async function write(path: string, text: string) {
    await mkdir(dirname(join(apps, path)), { recursive: true });
    await writeFile(join(apps, path), text);
  }
  async function writeLesson(id: string, ...pairs: string[]) {
    for (const pair of pairs) {
      await write(`${id}/src/pitfalls/${pair}/pair.ts`, `export default { id: "${pair}" };`);
    }
    // As a formatter that sorts would leave it: the list, not the imports, is in reading order.
    const imports = pairs.toSorted().map((pair) => `import ${pair} from "./${pair}/pair.ts";`);
    const list = pairs.map((pair) => `  { ...${pair}, pitfall, fix },`);
    const index = [...imports, "export const pairs = [", ...list, "];"].join("\n");
    await write(`${id}/src/pitfalls/index.ts`, index);
  }

  test("finds the lessons in the order of their numbers, with their folders", async () => {
    await writeLesson("02-second", "b");
    await writeLesson("10-third", "c");
    await writeLesson("01-first", "a");
    const lessons = await findLessons(apps);
    expect(lessons.map(({ id, dir }) => [id, dir])).toEqual([
      ["01-first", join(apps, "01-first")],
      ["02-second", join(apps, "02-second")],
      ["10-third", join(apps, "10-third")],
    ]);
  });

  test("reads the pairs in the order of their list, whatever that of the imports", async () => {
    await writeLesson("01-first", "zebra", "ant", "bee");
    const pairs = await readPairs(join(apps, "01-first/src/pitfalls"));
    expect(pairs).toEqual([{ id: "zebra" }, { id: "ant" }, { id: "bee" }]);
  });

  test("leaves out what is no lesson, and lessons without pairs", async () => {
    await writeLesson("01-first", "a");
    await writeLesson("notes", "b");
    await mkdir(join(apps, "02-empty"));
    await write("03-file", "a file");
    expect((await findLessons(apps)).map(({ id }) => id)).toEqual(["01-first"]);
  });

  test("does not load the code of the variants", async () => {
    await writeLesson("01-first", "a");
    await write("01-first/src/pitfalls/a/pitfall.ts", "throw new Error('I am for workerd');");
    expect(await findLessons(apps)).toHaveLength(1);
  });

  test("finds nothing where there is no folder", async () => {
    expect(await findLessons(join(apps, "nowhere"))).toEqual([]);
  });

  test("finds every pair of the fixture", async () => {
    const lesson = await fixtureLesson();
    expect(lesson).toMatchObject({ id: "99-fixture", dir: join(APPS, "99-fixture") });
    expect(lesson.pairs).toHaveLength(19);
  });
});

describe("select", () => {
  const pair = (id: string): Pair => ({
    id,
    title: id,
    claim: "",
    why: "",
    claims: [],
    engine: "workflow",
    expect: { pitfall: {}, fix: {} },
  });
  const lessons: Lesson[] = [
    { id: "01-first", dir: "/apps/01-first", pairs: [pair("a"), pair("b"), pair("c")] },
    { id: "02-second", dir: "/apps/02-second", pairs: [pair("a"), pair("d")] },
  ];
  const names = (...wanted: string[]) =>
    select(lessons, wanted).flatMap(({ lesson, pairs }) =>
      pairs.map(({ id }) => `${lesson.id}/${id}`),
    );
  const first = ["01-first/a", "01-first/b", "01-first/c"];
  const second = ["02-second/a", "02-second/d"];

  test("no name means everything", () => {
    expect(names()).toEqual([...first, ...second]);
  });

  test.each(["01", "1", "01-first", "01/", "1/", "01-first/"])("%s is the first lesson", (name) => {
    expect(names(name)).toEqual(first);
  });

  test.each(["02/a", "2/a", "02-second/a", "02/a/"])("%s is one pair of the second", (name) => {
    expect(names(name)).toEqual(["02-second/a"]);
  });

  test("several names are run in reading order, each pair once", () => {
    expect(names("02/d", "01/c", "1/a", "01/c")).toEqual([
      "01-first/a",
      "01-first/c",
      "02-second/d",
    ]);
    expect(names("02", "01/b", "02/a", "01")).toEqual([...first, ...second]);
  });

  test("each lesson is run once", () => {
    expect(select(lessons, ["01/a", "02", "01/b"]).map(({ lesson }) => lesson.id)).toEqual([
      "01-first",
      "02-second",
    ]);
  });

  test.each(["03", "first", "01-", "01-firs", "001", "", "/", "/a", "0"])(
    'there is no lesson "%s": the error lists those there are',
    (name) => {
      const unknown = `There is no lesson "${name.split("/")[0]}".`;
      expect(() => names("01/a", name)).toThrow(
        new UnknownNameError(`${unknown} The lessons are:\n  01-first\n  02-second`),
      );
    },
  );

  test.each([
    ["02/b", "b"],
    ["02-second/A", "A"],
    ["02/a/b", "a/b"],
    ["02//", ""],
  ])("%s is no pair: the error lists the pairs of that lesson", (name, pairName) => {
    expect(() => names(name)).toThrow(
      new UnknownNameError(
        `Lesson 02-second has no pair "${pairName}". Its pairs are:\n  02/a\n  02/d`,
      ),
    );
  });
});
