import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Pair, VARIANTS } from "@durable-lessons/lab";
import { nameOfPair, readLessons } from "@durable-lessons/lab/runner";
import {
  isLasting,
  trialsOf,
  trialsOfCompensations,
  UNDISTURBED,
} from "@durable-lessons/lab/trials";
import type { Operation } from "@durable-lessons/outside-world/faults";
import { describe, expect, test } from "vitest";
import { readGauntlet } from "../.vitepress/lab/gauntlet-files.ts";
import { gridRows, withoutIds } from "../.vitepress/theme/gauntlet.ts";

const docs = join(import.meta.dirname, "..");
const all = await readLessons(join(docs, "..", "apps"));
// A lesson without its text is not on the site yet.
const lessons = all.filter(({ id }) => existsSync(join(docs, "lessons", `${id}.md`)));
const names = all.flatMap((lesson) => lesson.pairs.map((pair) => nameOfPair(lesson, pair)));
const HINT = "run `pnpm --filter @durable-lessons/docs record:gauntlet`";

test("every lesson's gauntlet is recorded, and nothing else", async () => {
  const files = await readdir(join(docs, "recorded", "gauntlet"));
  expect(files.toSorted(), HINT).toEqual(lessons.map(({ id }) => `${id}.json`));
});

test("the README names how many fixes, trials and exceptions there are: at most one for each fix", async () => {
  const readme = await readFile(join(docs, "..", "README.md"), "utf8");
  const recordings = await Promise.all(lessons.map(({ id }) => readGauntlet(docs, id)));
  const trials = recordings
    .flatMap((recording) => recording?.pairs ?? [])
    .reduce((sum, { grid }) => sum + grid.fix.length, 0);
  const pairs = lessons.flatMap((lesson) => lesson.pairs);
  const exceptions = pairs.flatMap((pair) => pair.exceptions ?? []).length;
  expect(readme).toContain(`${pairs.length} fixes, ${trials} trials, ${exceptions} exceptions`);
  expect(exceptions).toBeLessThanOrEqual(pairs.length);
});

/** The trials that a side with these names has, by what it called when nothing disturbed it and in its lasting trials. */
function plannedBy(pair: Pair, recorded: readonly string[]): string[] {
  const operationsIn = (pattern: RegExp) =>
    recorded.flatMap((name) => (pattern.exec(name)?.[1] ?? []) as Operation | []);
  const operations = operationsIn(/^([^ ]+) always fails$/);
  const awaited = recorded.includes("every answer is no") ? ["an event"] : [];
  const trials = trialsOf(pair, { operations, awaited });
  const lasting = trials.filter(isLasting).map((trial) => ({
    trial,
    operations: operationsIn(new RegExp(`^${RegExp.escape(trial.name)}, then ([^ ]+) fails$`)),
  }));
  const compensations = trialsOfCompensations(lasting, operations);
  return [UNDISTURBED, ...trials, ...compensations].map(({ name }) => name);
}

describe.each(lessons)("what is recorded of the gauntlet of $id", async ({ id, pairs }) => {
  const recording = await readGauntlet(docs, id);
  const gridOfPair = (pair: Pair) =>
    recording?.pairs.find((entry) => entry.pair === pair.id)?.grid ?? { pitfall: [], fix: [] };

  test("has every pair once, in order, and says with what", () => {
    expect(
      recording?.pairs.map(({ pair }) => pair),
      HINT,
    ).toEqual(pairs.map((pair) => pair.id));
    expect(recording?.wrangler).toMatch(/^\d+\.\d+\.\d+$/);
  });

  test.each(pairs)("$id has the trials that the lab plans now, on both sides", (pair) => {
    for (const variant of VARIANTS) {
      const recorded = gridOfPair(pair)[variant].map(({ trial }) => trial);
      expect(recorded.toSorted(), HINT).toEqual(plannedBy(pair, recorded).toSorted());
      expect(recorded.length).toBeGreaterThan(4);
    }
  });

  test.each(pairs)(
    "$id has the exceptions that its pair tells, and their cure is a pair",
    (pair) => {
      const { exceptions = [] } = pair;
      const told = gridRows(gridOfPair(pair), exceptions).flatMap(
        ({ cells }) => cells.fix?.told ?? [],
      );
      expect(told.map(({ trial }) => trial).toSorted(), HINT).toEqual(
        exceptions.map(({ trial }) => trial).toSorted(),
      );
      for (const { cure } of exceptions) expect(names).toContain(cure);
    },
  );

  test.each(pairs)("$id breaks nothing in its fix but what it tells", (pair) => {
    const rows = gridRows(gridOfPair(pair), pair.exceptions ?? []);
    expect(rows.flatMap(({ cells }) => cells.fix?.broken ?? [])).toEqual([]);
  });

  test.each(pairs)("$id holds no id that another recording would not have", (pair) => {
    const seen = VARIANTS.flatMap((variant) => gridOfPair(pair)[variant])
      .flatMap(({ broken }) => broken)
      .map(({ saw }) => saw);
    expect(seen.map(withoutIds)).toEqual(seen);
  });
});
