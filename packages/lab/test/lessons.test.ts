import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  findLessons,
  type Lesson,
  type LessonFolder,
  select,
  UnknownNameError,
} from "../src/runner/index.ts";
import { APPS, fixtureLesson } from "./fixture.ts";
import { LessonReader } from "./read-lessons.ts";

const reader = new LessonReader();
afterAll(() => reader.close());

let apps: string;
beforeEach(async () => {
  apps = await mkdtemp(join(tmpdir(), "lessons-"));
  await write("package.json", '{ "type": "module" }');
});
afterEach(async () => {
  await rm(apps, { recursive: true });
});

async function write(path: string, text: string) {
  await mkdir(dirname(join(apps, path)), { recursive: true });
  await writeFile(join(apps, path), text);
}

const pairText = (
  id: string,
  more = "",
) => `import type { WorkflowPair } from "@durable-lessons/lab";
export default {
  id: "${id}", title: "T", claim: "C", why: "W", claims: [], engine: "workflow",
  expect: { pitfall: {}, fix: {} },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
  ${more}
} satisfies WorkflowPair;
`;
const nameOf = (id: string) => id.replaceAll("-", "_");
// As a formatter that sorts would leave it: the list, not the imports, is in reading order.
const indexText = (pairs: string[]) =>
  [
    ...pairs.toSorted().map((pair) => `import ${nameOf(pair)} from "./${pair}/pair.ts";`),
    `export const pairs = [${pairs.map(nameOf).join(", ")}];`,
  ].join("\n");

async function writeLesson(id: string, ...pairs: string[]) {
  for (const pair of pairs) await write(`${id}/src/pitfalls/${pair}/pair.ts`, pairText(pair));
  await write(`${id}/src/pitfalls/index.ts`, indexText(pairs));
}

const read = () => reader.read(apps);
const readAfterEach = (...changes: Record<string, string>[]) =>
  reader.readAfterEach(apps, ...changes);

const idsOf = (lesson: Lesson | undefined) => lesson?.pairs.map(({ id }) => id);

describe("findLessons", () => {
  test("finds the lessons in the order of their numbers, with their folders", async () => {
    await writeLesson("02-second", "b");
    await writeLesson("10-third", "c");
    await writeLesson("01-first", "a");
    expect(await findLessons(apps)).toEqual([
      { id: "01-first", dir: join(apps, "01-first") },
      { id: "02-second", dir: join(apps, "02-second") },
      { id: "10-third", dir: join(apps, "10-third") },
    ]);
  });

  test("leaves out what is no lesson, and lessons without pairs", async () => {
    await writeLesson("01-first", "a");
    await writeLesson("notes", "b");
    await mkdir(join(apps, "02-empty"));
    await write("03-file", "a file");
    expect((await findLessons(apps)).map(({ id }) => id)).toEqual(["01-first"]);
  });

  test("finds nothing where there is no folder", async () => {
    expect(await findLessons(join(apps, "nowhere"))).toEqual([]);
  });
});

describe("readLessons", () => {
  test("reads the pairs in the order of their list, whatever that of the imports", async () => {
    await writeLesson("01-first", "zebra", "ant", "bee");
    const [lesson] = await read();
    expect(idsOf(lesson)).toEqual(["zebra", "ant", "bee"]);
    expect(lesson?.broken).toEqual([]);
  });

  test("reads the list as TypeScript does: quotes, comments, line breaks, aliases", async () => {
    await writeLesson("01-first", "a", "b", "c");
    await write(
      "01-first/src/pitfalls/index.ts",
      `import a from './a/pair.ts'
      // import b from "./b/pair.ts";
      import { default as see }
        from './c/pair.ts'
      const first: unknown[] = [see];
      export const pairs = [...first, /* b, */ a] as const;`,
    );
    const [lesson] = await read();
    expect(lesson).toMatchObject({ pairs: [{ id: "c" }, { id: "a" }], broken: [] });
  });

  test("does not load the code of the variants", async () => {
    await writeLesson("01-first", "a");
    await write("01-first/src/pitfalls/a/pitfall.ts", "throw new Error('I am for workerd');");
    expect(await read()).toMatchObject([{ pairs: [{ id: "a" }], broken: [] }]);
  });

  test("finds every pair of the fixture", async () => {
    const lesson = await fixtureLesson();
    expect(lesson).toMatchObject({ id: "99-fixture", dir: join(APPS, "99-fixture"), broken: [] });
    expect(lesson.pairs).toHaveLength(19);
  });

  describe("with a pair that is broken", () => {
    const PAIR = "01-first/src/pitfalls/bad/pair.ts";
    const good = pairText("bad");
    beforeEach(() => writeLesson("01-first", "zebra", "bad", "ant"));

    test.each([
      ["a syntax error", "\n\nexport default { id: 'bad',, };", 3, "SyntaxError: Unexpected token"],
      [
        "an error when it runs",
        "export default {};\nnope();",
        2,
        "ReferenceError: nope is not defined",
      ],
      ["a type that is code", "enum A { B }\nexport default {};", 1, "enum is not supported"],
      ["an import of nothing", "import './gone.ts';\nexport default {};", undefined, "gone.ts"],
      [
        "a missing export",
        "\nimport { nope } from '../zebra/pair.ts';\nexport default nope;",
        2,
        "nope",
      ],
    ])("%s: the others are read, and this one is named", async (_, text, line, message) => {
      await write(PAIR, text);
      const [lesson] = await read();
      expect(idsOf(lesson)).toEqual(["ant", "zebra"]);
      expect(lesson?.broken).toEqual([
        {
          pair: "bad",
          file: join(apps, PAIR),
          ...(line === undefined ? {} : { line }),
          message: expect.stringContaining(message),
        },
      ]);
    });

    test.each([
      ["export const pair = {};", "it has no default export"],
      ["export default 7;", "its default export is no object"],
      [good.replace('id: "bad"', 'id: "other"'), 'id is "other", but the folder is "bad"'],
      [good.replace('"workflow"', '"cron"'), 'engine is "cron", not one of workflow, queue, http'],
      [good.replace(/engine: \S+/, ""), 'engine is "undefined", not one of workflow, queue, http'],
      [good.replace('"workflow"', '"queue"'), "messages is missing"],
      [good.replace('"workflow"', '"http"'), "body is missing"],
      [good.replace(/expect:.*/, ""), "expect is missing"],
      [good.replace("{ pitfall: {}, fix: {} }", "{ fix: {} }"), "expect.pitfall is missing"],
      [good.replace("{ pitfall: {}, fix: {} }", "{ pitfall: {} }"), "expect.fix is missing"],
      [good.replace(/pitfall: \(\).*/, ""), 'pitfall is missing: () => import("./pitfall.ts")'],
      [good.replace(/fix: \(\).*/, ""), 'fix is missing: () => import("./fix.ts")'],
    ])("%#: the message says which field", async (text, message) => {
      await write(PAIR, text);
      const [lesson] = await read();
      // Where the list can be loaded its order holds.
      expect(idsOf(lesson)?.toSorted()).toEqual(["ant", "zebra"]);
      expect(lesson?.broken).toEqual([{ pair: "bad", file: join(apps, PAIR), message }]);
    });

    test("a pair of the wrong shape does not change the order of the others", async () => {
      await write(PAIR, good.replace(/expect:.*/, ""));
      expect(idsOf((await read())[0])).toEqual(["zebra", "ant"]);
    });

    test("one that is not listed is not in the way", async () => {
      await write(PAIR, "export default {{");
      await write("01-first/src/pitfalls/index.ts", indexText(["zebra", "ant"]));
      expect(await read()).toMatchObject([{ pairs: [{ id: "zebra" }, { id: "ant" }], broken: [] }]);
    });

    test("other lessons are read", async () => {
      await write(PAIR, "export default {{");
      await writeLesson("02-second", "b");
      expect((await read()).map(idsOf)).toEqual([["ant", "zebra"], ["b"]]);
    });
  });

  test.each([
    ["a syntax error", "\nexport const pairs = [,;", 2, "SyntaxError"],
    ["nothing in it", "", undefined, "it exports no list `pairs`"],
    [
      "an import of nothing",
      "import './gone/pair.ts'; export const pairs = [];",
      undefined,
      "gone",
    ],
  ])("a list with %s: every folder counts, by name", async (_, text, line, message) => {
    await writeLesson("01-first", "b", "a");
    await write("01-first/src/pitfalls/index.ts", text);
    const [lesson] = await read();
    expect(idsOf(lesson)).toEqual(["a", "b"]);
    expect(lesson?.broken).toEqual([
      {
        pair: "index.ts",
        file: join(apps, "01-first/src/pitfalls/index.ts"),
        ...(line === undefined ? {} : { line }),
        message: expect.stringContaining(message),
      },
    ]);
  });

  test.each([
    ["lists a pair twice", "[a, b, a]", 'it lists "a" twice'],
    ["lists what has no folder", '[a, b, { id: "c" }]', 'it lists a pair "c" that has no folder'],
  ])("a list that %s: its pairs are read", async (_, list, message) => {
    await writeLesson("01-first", "a", "b");
    const imports = 'import a from "./a/pair.ts"; import b from "./b/pair.ts";';
    await write("01-first/src/pitfalls/index.ts", `${imports} export const pairs = ${list};`);
    const [lesson] = await read();
    expect(idsOf(lesson)).toEqual(["a", "b"]);
    const file = join(apps, "01-first/src/pitfalls/index.ts");
    expect(lesson?.broken).toEqual([{ pair: "index.ts", file, message }]);
  });

  test("fresh, it sees what has changed since: a pair, the list, what broke and was repaired", async () => {
    await writeLesson("01-first", "b", "a");
    const a = "01-first/src/pitfalls/a/pair.ts";
    const index = "01-first/src/pitfalls/index.ts";
    const seen = await readAfterEach(
      {},
      { [a]: pairText("a", 'claims: ["A1"],') },
      { [a]: "export default {{" },
      { [a]: "nope();" },
      { [a]: pairText("a") },
      { "01-first/src/pitfalls/c/pair.ts": pairText("c"), [index]: indexText(["c", "b", "a"]) },
      { [index]: indexText(["a"]) },
    );
    expect(seen.map(([lesson]) => idsOf(lesson))).toEqual([
      ["b", "a"],
      ["b", "a"],
      ["b"],
      ["b"],
      ["b", "a"],
      ["c", "b", "a"],
      ["a"],
    ]);
    expect(seen.map(([lesson]) => lesson?.broken.map(({ pair }) => pair))).toEqual([
      [],
      [],
      ["a"],
      ["a"],
      [],
      [],
      [],
    ]);
    expect(seen[1]?.[0]?.pairs[1]?.claims).toEqual(["A1"]);
  });

  test.each([["export default {{"], ["nope();"]])(
    "fresh, a pair that was broken from the start (%s) is read once it is repaired",
    async (text) => {
      await writeLesson("01-first", "b", "a");
      const a = "01-first/src/pitfalls/a/pair.ts";
      const seen = await readAfterEach({ [a]: text }, { [a]: pairText("a") });
      expect(seen).toMatchObject([
        [{ pairs: [{ id: "b" }], broken: [{ pair: "a" }] }],
        [{ pairs: [expect.anything(), expect.anything()], broken: [] }],
      ]);
    },
  );
});

describe("select", () => {
  let lessons: LessonFolder[];
  beforeEach(async () => {
    await writeLesson("01-first", "a", "b", "c");
    await writeLesson("02-second", "a", "d");
    lessons = await findLessons(apps);
  });
  const names = async (...wanted: string[]) =>
    (await select(lessons, wanted)).flatMap(({ lesson, pairs }) =>
      pairs.map(({ id }) => `${lesson.id}/${id}`),
    );
  const first = ["01-first/a", "01-first/b", "01-first/c"];
  const second = ["02-second/a", "02-second/d"];

  test("no name means everything", async () => {
    expect(await names()).toEqual([...first, ...second]);
  });

  test.each([
    "01",
    "1",
    "01-first",
    "01/",
    "1/",
    "01-first/",
    "apps/01-first",
    "./apps/01-first/",
    "/somewhere/apps/01-first/src/pitfalls/",
    "apps/01-first/src/pitfalls",
  ])("%s is the first lesson", async (name) => {
    expect(await names(name)).toEqual(first);
  });

  test.each([
    "02/a",
    "2/a",
    "02-second/a",
    "02/a/",
    "apps/02-second/a",
    "apps/02-second/src/pitfalls/a",
    "apps/02-second/src/pitfalls/a/",
    "apps/02-second/src/pitfalls/a/pitfall.ts",
    "./apps/02-second/src/pitfalls/a/pair.ts",
  ])("%s is one pair of the second", async (name) => {
    expect(await names(name)).toEqual(["02-second/a"]);
  });

  test("several names are run in reading order, each pair once", async () => {
    expect(await names("02/d", "01/c", "1/a", "01/c")).toEqual([
      "01-first/a",
      "01-first/c",
      "02-second/d",
    ]);
    expect(await names("02", "01/b", "02/a", "01")).toEqual([...first, ...second]);
  });

  test("each lesson is run once", async () => {
    const selections = await select(lessons, ["01/a", "02", "01/b"]);
    expect(selections.map(({ lesson }) => lesson.id)).toEqual(["01-first", "02-second"]);
  });

  test("a lesson that is not asked for is not read", async () => {
    await write("02-second/src/pitfalls/index.ts", "globalThis.wasRead = true; nope();");
    expect(await names("01/a")).toEqual(["01-first/a"]);
    expect(globalThis).not.toHaveProperty("wasRead");
    await names("02");
    expect(globalThis).toHaveProperty("wasRead");
    Reflect.deleteProperty(globalThis, "wasRead");
  });

  test("a pair that cannot be read is among those asked for, where it is", async () => {
    await write("02-second/src/pitfalls/d/pair.ts", pairText("other"));
    const brokenOf = async (...wanted: string[]) =>
      (await select(lessons, wanted)).flatMap(({ broken }) => broken.map(({ pair }) => pair));
    expect(await brokenOf("02/d")).toEqual(["d"]);
    expect(await brokenOf("02")).toEqual(["d"]);
    expect(await brokenOf("02/a")).toEqual([]);
    // By its id it is not known: the list says why.
    await expect(names("02/other")).rejects.toThrow(
      new UnknownNameError(
        'Lesson 02-second has no pair "other". Its pairs are:\n  02/a\n' +
          '  02/d (cannot be read: id is "other", but the folder is "d")',
      ),
    );
  });

  test.each(["03", "first", "01-", "01-firs", "001", "", "/", "/a", "0", "apps", "apps/"])(
    'there is no lesson "%s": the error lists those there are',
    async (name) => {
      const unknown = `There is no lesson "${name.replace("apps/", "").split("/")[0]}".`;
      await expect(names("01/a", name)).rejects.toThrow(
        new UnknownNameError(`${unknown} The lessons are:\n  01-first\n  02-second`),
      );
    },
  );

  test.each([
    ["02/b", "b"],
    ["02-second/A", "A"],
    ["02/a/b", "a/b"],
    ["02//", ""],
    ["apps/02-second/src", "src"],
    ["apps/02-second/src/index.ts", "src"],
  ])("%s is no pair: the error lists the pairs of that lesson", async (name, pairName) => {
    await expect(names(name)).rejects.toThrow(
      new UnknownNameError(
        `Lesson 02-second has no pair "${pairName}". Its pairs are:\n  02/a\n  02/d`,
      ),
    );
  });
});
