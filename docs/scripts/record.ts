/**
 * `pnpm --filter @durable-lessons/docs record [lesson] …`: runs every pair of the lessons named (all of them by default)
 * and writes what was seen into `recorded/`, for pages on which nobody has run anything yet. A test holds these files
 * to the pairs.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Pair } from "@durable-lessons/lab";
import { findLessons, LessonSession, select } from "@durable-lessons/lab/runner";
import { recordedTrace } from "../.vitepress/lab/recorded-trace.ts";
import { recordingFile } from "../.vitepress/lab/pair-pages.ts";
import type { RecordedPair, Recording } from "../.vitepress/theme/pair-page.ts";
import { applyProgress, newPairRun, type PairRun } from "../.vitepress/theme/run-state.ts";

const docsDir = join(import.meta.dirname, "..");
const lessons = await findLessons(join(docsDir, "..", "apps"));
const requireFromLab = createRequire(import.meta.resolve("@durable-lessons/lab/runner"));
const { version: wrangler }: { version: string } = requireFromLab("wrangler/package.json");

/** Few at once, so that a timeline shows the pair and not the crowd around it. */
const AT_ONCE = 3;

let ok = true;
for (const { lesson, pairs } of await select(lessons, process.argv.slice(2))) {
  const session = new LessonSession(lesson);
  try {
    const recorded: RecordedPair[] = [];
    for (let next = 0; next < pairs.length; next += AT_ONCE) {
      const some = pairs.slice(next, next + AT_ONCE);
      recorded.push(...(await Promise.all(some.map((pair) => runOne(session, pair)))));
    }
    for (const pair of recorded) {
      console.log(`${pair.ok ? "✓" : "✗"} ${lesson.id}/${pair.pair}`);
      ok &&= pair.ok;
    }
    const recording: Recording = {
      lesson: lesson.id,
      recorded: new Date().toISOString().slice(0, 10),
      wrangler,
      pairs: recorded,
    };
    await mkdir(join(docsDir, "recorded"), { recursive: true });
    await writeFile(recordingFile(docsDir, lesson.id), linesOf(recording));
  } finally {
    await session.close();
  }
}
if (!ok) {
  console.error(
    "Some evidence was not as expected: see `pnpm compare`. The recording was written anyway.",
  );
  process.exitCode = 1;
}

/** JSON with a line for each count of the evidence, and one for each list of events: a diff shows what matters. */
function linesOf(recording: Recording): string {
  return `${JSON.stringify(recording, null, 1).replaceAll(/\n {7,}/g, " ")}\n`;
}

/** The crash waits for all pairs that are under way, whoever asks for it first. */
async function runOne(session: LessonSession, pair: Pair): Promise<RecordedPair> {
  const run: PairRun = newPairRun();
  for await (const progress of session.run(pair)) {
    applyProgress(run, progress);
    if (run.phase === "at-crash-point") void session.crash();
  }
  if (!run.outcomes) throw new Error(`${pair.id} was not compared.`);
  const { id, title, claim, disturb = null } = pair;
  return {
    pair: id,
    title,
    claim,
    disturb,
    variants: run.outcomes,
    ok: run.outcomes.pitfall.ok && run.outcomes.fix.ok,
    trace: recordedTrace(run.trace),
  };
}
