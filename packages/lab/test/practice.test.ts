/** What stands around the reader's own attempt: what is asked of it, what is known of it, what one is told. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hintsAt } from "../src/cli/hints.ts";
import { exercisesOf, nextUnsolved } from "../src/cli/practice-exercises.ts";
import { YOURS } from "../src/pair.ts";
import { ownPlan } from "../src/plan.ts";
import {
  noteSolved,
  progressFileOf,
  readProgress,
  writeProgress,
} from "../src/practice-progress.ts";
import { queueOf } from "../src/queues.ts";
import { findLessons, select, type Selection } from "../src/runner/index.ts";
import { compareTrials } from "../src/runner/practice.ts";
import { TypeChecker } from "../src/runner/type-checker.ts";
import { beginYours, isExercise, resetYours, yoursOf } from "../src/runner/yours.ts";
import { copyLessons } from "./copied-lessons.ts";

let copy: Awaited<ReturnType<typeof copyLessons>>;
let selections: Selection[];
beforeAll(async () => {
  copy = await copyLessons(["01", "03"]);
  selections = await select(await findLessons(copy.apps), []);
});
afterAll(() => copy[Symbol.asyncDispose]());

function pairOf(name: string) {
  const [number = "", id] = name.split("/");
  const selection = selections.find(({ lesson }) => lesson.id.startsWith(number));
  const pair = selection?.pairs.find((one) => one.id === id);
  if (!selection || !pair) throw new Error(`There is no pair ${name}.`);
  return { lesson: selection.lesson, pair };
}

describe("what is asked of it", () => {
  test("the crash waits for the call that hangs, not for a step's name; its time stays", () => {
    const { pair } = pairOf("01/clock-in-a-branch");
    const { disturb } = ownPlan(pair, YOURS);
    expect(disturb).toEqual({ crash: { call: "accounts.open" }, wakeAfterMs: 2000 });
    expect(ownPlan(pair, "fix").disturb).toBe(pair.disturb);
  });

  test("a crash after a call waits for the same call", () => {
    const { pair } = pairOf("03/mark-after-the-mail");
    expect(ownPlan(pair, YOURS).disturb).toEqual({ crash: { call: "mail.send" } });
  });

  test("it is expected to do what the fix does, or what is as right", () => {
    const { pair } = pairOf("03/no-idempotency");
    const { expect: goal, orElse } = ownPlan(pair, YOURS);
    expect([goal, orElse]).toEqual([pair.expect.fix, [{ "email.sent": 1 }]]);
  });

  test("its queue has the settings of the fix, and a name of its own", () => {
    const { pair } = pairOf("03/tiny-batches");
    expect(queueOf(pair, YOURS)).toMatchObject({ name: "lab-tiny-batches-yours", batchSize: 10 });
    expect(isExercise(pair)).toBe(false);
  });
});

describe("what it has to bear", () => {
  const normal = (...kinds: string[]) =>
    ({
      effects: kinds.map((kind, nth) => ({ id: `${nth}`, kind, detail: null, names: [] })),
      operations: [],
      awaited: [],
      kept: 0,
    }) as unknown as Parameters<typeof compareTrials>[0]["normal"];
  const broken = [{ rule: "mailed-once" as const, saw: "email.sent 2 times" }];

  test("is what the fix bears", () => {
    const fix = {
      normal: normal("email.sent"),
      trials: [
        { trial: "a", broken: [] },
        { trial: "b", broken },
      ],
    };
    const yours = {
      normal: normal("email.sent"),
      trials: [
        { trial: "a", broken },
        { trial: "b", broken },
        { trial: "c", broken },
      ],
    };
    expect(compareTrials(fix, yours)).toEqual({
      count: 1,
      broken: [
        { trial: "a", saw: "email.sent 2 times (nobody gets an email twice about one thing)" },
      ],
    });
  });

  test("undisturbed it must do what the fix does", () => {
    const fix = { normal: normal("email.sent", "parcel.shipped"), trials: [] };
    const yours = { normal: normal("email.sent", "email.sent"), trials: [] };
    expect(compareTrials(fix, yours).broken).toEqual([
      { trial: "undisturbed", saw: "email.sent: seen 2, expected 1" },
      { trial: "undisturbed", saw: "parcel.shipped: seen 0, expected 1" },
    ]);
  });
});

describe("its file", () => {
  test("begins as the pitfall, stays when it is begun again, and is the pitfall after a reset", async () => {
    const { lesson, pair } = pairOf("01/double-submit");
    const file = yoursOf(lesson, pair.id);
    const pitfall = await readFile(join(file, "../pitfall.ts"), "utf8");
    expect(await beginYours(lesson, pair.id)).toBe(true);
    expect(await readFile(file, "utf8")).toBe(pitfall);
    await writeFile(file, "mine");
    expect(await beginYours(lesson, pair.id)).toBe(false);
    expect(await readFile(file, "utf8")).toBe("mine");
    await resetYours(lesson, pair.id);
    expect(await readFile(file, "utf8")).toBe(pitfall);
  });

  test("is checked for types, again after each change, with line and column", async () => {
    const { lesson, pair } = pairOf("01/counting-in-memory");
    const file = yoursOf(lesson, pair.id);
    await beginYours(lesson, pair.id);
    const checker = new TypeChecker(lesson.dir);
    try {
      expect(await checker.check(file)).toEqual({ syntax: [], types: [] });
      await writeFile(file, `const tea = "🫖 für 茶";\nexport const n: number = /* ☕ */ tea;\n`);
      const name = `apps/${lesson.id}/src/pitfalls/${pair.id}/yours.ts`;
      expect(await checker.check(file)).toEqual({
        syntax: [],
        types: [
          {
            at: `${name}:2:14`,
            message: "TS2322: Type 'string' is not assignable to type 'number'.",
          },
        ],
      });
      await writeFile(file, "export const n = (1;\n");
      expect(await checker.check(file)).toEqual({
        syntax: [{ at: `${name}:1:20`, message: "TS1005: ')' expected." }],
        types: [],
      });
    } finally {
      await checker.close();
    }
  });
});

describe("what is solved", () => {
  let file: string;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "progress-"));
    file = progressFileOf(folder);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("is kept in one file, one pair beside the other, and can be forgotten", async () => {
    expect(await readProgress(file)).toEqual({});
    await noteSolved(file, "01/a");
    await writeProgress(file, "02/b", { solvedAt: "2026-11-29T00:00:00.000Z" });
    const first = await readProgress(file);
    expect(first).toEqual({
      "01/a": { solvedAt: expect.stringMatching(/^\d{4}-.*Z$/) },
      "02/b": { solvedAt: "2026-11-29T00:00:00.000Z" },
    });
    // When it was solved first, stays.
    await noteSolved(file, "02/b");
    expect(await readProgress(file)).toEqual(first);
    await writeProgress(file, "01/a", null);
    expect(Object.keys(await readProgress(file))).toEqual(["02/b"]);
    expect(await readdir(folder)).toEqual([".practice.json"]);
  });

  test.each([
    "",
    "{",
    "null",
    "[]",
    `{"version":2,"pairs":{"01/a":{}}}`,
    `{"version":1,"pairs":[]}`,
    `{"version":1,"pairs":{"01/a":null}}`,
  ])("of a broken file nothing is known, and it can be written anew: %j", async (text) => {
    await writeFile(file, text);
    expect(await readProgress(file)).toEqual({});
    await noteSolved(file, "01/a");
    expect(Object.keys(await readProgress(file))).toEqual(["01/a"]);
  });

  test("what is no date is dropped", async () => {
    await writeFile(file, `{"version":1,"pairs":{"01/a":{"solvedAt":7,"more":1}}}`);
    expect(await readProgress(file)).toEqual({ "01/a": {} });
  });
});

describe("what comes next", () => {
  const solvedAt = "2026-11-29T00:00:00.000Z";

  test("is the first that is not solved, after the last one, and round again", async () => {
    const exercises = await exercisesOf(selections);
    const [first, second, third] = exercises.map(({ name }) => name);
    if (!first || !second || !third) throw new Error("There are too few.");
    const next = (progress: object, after?: string) =>
      nextUnsolved(exercises, progress as Record<string, object>, after)?.name;
    expect(next({})).toBe(first);
    expect(next({ [first]: { solvedAt } })).toBe(second);
    expect(next({ [first]: { solvedAt } }, second)).toBe(third);
    const last = exercises.at(-1)?.name;
    expect(next({}, last)).toBe(first);
    const all = Object.fromEntries(exercises.map(({ name }) => [name, { solvedAt }]));
    // Not the one that has no exercise, either.
    expect(next({ ...all, "03/tiny-batches": {} })).toBeUndefined();
  });
});

test("hints say more each time: the mechanism, the lines, the fix", async () => {
  const { lesson, pair } = pairOf("01/side-effect-outside-step");
  const [why, where, fix] = await hintsAt(lesson, pair);
  expect(why).toBe(pair.why);
  expect(where).toMatch(/^Look at these lines of pitfall.ts:\n +\d+ +await env\.mail\.send/);
  expect(where).not.toContain("step.do");
  expect(fix).toContain(`+  await step.do("send welcome mail"`);
});
