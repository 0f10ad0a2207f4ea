/**
 * `pnpm --filter @durable-lessons/docs record:gauntlet [lesson[/pair]] …`: takes both sides of the pairs named (all of them
 * by default) through the gauntlet, and writes what was seen into `recorded/gauntlet/`. A pair that is not named keeps
 * what was recorded of it. A test holds these files to the pairs.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { VARIANTS } from "@durable-lessons/lab";
import { findLessons, runGauntlet, select } from "@durable-lessons/lab/runner";
import { gauntletFile, gauntletText, readGauntlet } from "../.vitepress/lab/gauntlet-files.ts";
import { type Grid, gridOf } from "../.vitepress/theme/gauntlet.ts";

const docsDir = join(import.meta.dirname, "..");
const lessons = await findLessons(join(docsDir, "..", "apps"));
const requireFromLab = createRequire(import.meta.resolve("@durable-lessons/lab/runner"));
const { version: wrangler }: { version: string } = requireFromLab("wrangler/package.json");

let ok = true;
for (const selection of await select(lessons, process.argv.slice(2))) {
  const { lesson } = selection;
  const before = await readGauntlet(docsDir, lesson.id);
  const grids = new Map<string, Grid>(before?.pairs.map(({ pair, grid }) => [pair, grid]));
  for await (const progress of runGauntlet([selection], { variants: VARIANTS })) {
    if (progress.type === "pair-unreadable") throw new Error(progress.message);
    if (progress.type !== "pair-judged") continue;
    const [first] = progress.results;
    if (!first) continue;
    grids.set(first.pair.id, gridOf(progress.results));
    const isOk = progress.results.every((result) => result.ok);
    console.log(`${isOk ? "✓" : "✗"} ${lesson.id}/${first.pair.id}`);
    ok &&= isOk;
  }
  const pairs = lesson.pairs.flatMap(({ id }) => {
    const grid = grids.get(id);
    return grid ? [{ pair: id, grid }] : [];
  });
  const file = gauntletFile(docsDir, lesson.id);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, gauntletText({ lesson: lesson.id, wrangler, pairs }));
}
if (!ok) {
  console.error(
    "Some fixes are not as expected: see `pnpm gauntlet`. The recording was written anyway.",
  );
  process.exitCode = 1;
}
