/** The reader's own attempt at every pair: `pnpm test` takes one of each engine, `pnpm test:soak` all. */
import { copyFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { soak, SOAKING } from "@durable-lessons/test-kit/soak";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AnyVariant, type Pair, YOURS } from "../src/pair.ts";
import { ownPlan } from "../src/plan.ts";
import { findLessons, type Lesson, LessonSession, readLesson } from "../src/runner/index.ts";
import { tryPairs } from "../src/runner/pair-trials.ts";
import { compareTrials } from "../src/runner/practice.ts";
import { isExercise, withYours, yoursOf } from "../src/runner/yours.ts";
import { copyLessons } from "./copied-lessons.ts";

const NUMBERS = ["01", "02", "03", "04", "05", "06"];
const SMALL: Record<string, string[]> = {
  "01": ["side-effect-outside-step", "double-submit"],
  "03": ["no-idempotency"],
};

test("there is an exercise at every pair but the one whose settings are the lesson", async () => {
  await using copy = await copyLessons();
  const lessons = await Promise.all((await findLessons(copy.apps)).map((one) => readLesson(one)));
  expect(lessons.map(({ id }) => id.slice(0, 2))).toEqual(NUMBERS);
  const none = lessons.flatMap(({ pairs }) => pairs.filter((pair) => !isExercise(pair)));
  expect(none.map(({ id }) => id)).toEqual(["tiny-batches"]);
});

describe.each(soak(NUMBERS, Object.keys(SMALL)))("lesson %s", (number) => {
  let copy: Awaited<ReturnType<typeof copyLessons>>;
  let lesson: Lesson;
  let pairs: Pair[];
  let session: LessonSession;

  beforeAll(async () => {
    copy = await copyLessons([number]);
    const [folder] = await findLessons(copy.apps);
    if (!folder) throw new Error(`There is no lesson ${number}.`);
    lesson = await readLesson(folder);
    pairs = lesson.pairs
      .filter((pair) => isExercise(pair) && (SOAKING || SMALL[number]?.includes(pair.id)))
      .map((pair) => withYours(lesson, pair));
    session = new LessonSession(lesson, { pairs, isWatched: false, runTimeoutMs: 20_000 });
  });
  let isOpen = true;
  async function closeSession() {
    if (isOpen) await session.close();
    isOpen = false;
  }
  afterAll(async () => {
    await closeSession();
    await copy[Symbol.asyncDispose]();
  });

  async function attemptAll(side: "fix" | "pitfall") {
    for (const { id } of pairs) {
      const file = yoursOf(lesson, id);
      await copyFile(join(dirname(file), `${side}.ts`), file);
    }
    await session.rebuild();
    return Promise.all(
      pairs.map(async (pair) => {
        const { signal } = new AbortController();
        const run = await session.runPlan(ownPlan(pair, YOURS), signal, ({ type }) => {
          if (type === "crash-point") session.crash().catch(() => undefined);
        });
        return { pair: pair.id, ...run.result() };
      }),
    );
  }

  test("an untouched attempt is not solved", async () => {
    const results = await attemptAll("pitfall");
    expect(results.length).toBeGreaterThan(0);
    expect(results.filter(({ ok }) => ok)).toEqual([]);
    // None is red for another reason: but for those that wait for ever, each comes to an end.
    const waits = (id: string) =>
      pairs.some((pair) => pair.id === id && pair.expect.pitfall.status === "waiting");
    const given = results.filter(({ status }) => status === "timed out" || status === "blocked");
    expect(given.filter(({ pair }) => !waits(pair))).toEqual([]);
  });

  test("the fix's text is, by its evidence", async () => {
    const results = await attemptAll("fix");
    expect(results.filter(({ ok }) => !ok)).toEqual([]);
  });

  // One of each engine: all fixes go through the gauntlet in `pnpm gauntlet`.
  test.skipIf(!SOAKING || !SMALL[number])(
    "and it bears what the fix bears",
    async () => {
      await closeSession();
      const limits = { signal: new AbortController().signal, runTimeoutMs: 120_000 };
      const some = pairs.filter(({ id }) => SMALL[number]?.includes(id));
      const sides = await tryPairs(lesson, some, ["fix", YOURS], limits, () => undefined);
      const of = (pair: Pair, variant: AnyVariant) =>
        sides.find(({ subject }) => subject.pair === pair && subject.variant === variant);
      const judged = some.map((pair) => {
        const [fix, yours] = [of(pair, "fix"), of(pair, YOURS)];
        if (!fix || !yours) throw new Error(`${pair.id} was not tried.`);
        return { pair: pair.id, ...compareTrials(fix, yours) };
      });
      expect(judged.filter(({ broken }) => broken.length > 0)).toEqual([]);
      expect(judged.filter(({ count }) => count === 0)).toEqual([]);
    },
    600_000,
  );
});
