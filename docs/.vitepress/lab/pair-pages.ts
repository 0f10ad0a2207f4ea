import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Pair, type Variant, VARIANTS } from "@durable-lessons/lab";
import { describeDisturbance } from "@durable-lessons/lab/describe";
import { type Lesson, nameOfPair, readLessons } from "@durable-lessons/lab/runner";
import { diffLines } from "diff";
import { describeDisturbanceInChinese } from "../../i18n/disturbance.zh-TW.ts";
import { EXCEPTIONS_IN_CHINESE } from "../../i18n/gauntlet.zh-TW.ts";
import { PAIRS_IN_CHINESE } from "../../i18n/pairs.zh-TW.ts";
import { countOf, type Grid } from "../theme/gauntlet.ts";
import type {
  CatalogueEntry,
  ExceptionEntry,
  LessonEntry,
  Locale,
  PairPage,
  Recording,
} from "../theme/pair-page.ts";
import { readGauntlet } from "./gauntlet-files.ts";
import { lessonsOf, titleOf } from "./navigation.ts";

/** Where the site takes its pairs from. */
export interface Sources {
  appsDir: string;
  docsDir: string;
}

/** Every pair of every lesson, in reading order. */
export async function catalogue({ appsDir, docsDir }: Sources): Promise<CatalogueEntry[]> {
  const lessons = await readLessons(appsDir, { fresh: true });
  const entries = lessons.map(async (lesson) => {
    const page = await readFile(join(docsDir, "lessons", `${lesson.id}.md`), "utf8").catch(
      () => "",
    );
    const tried = await readGauntlet(docsDir, lesson.id);
    return lesson.pairs.map((pair) => {
      const grid = tried?.pairs.find((entry) => entry.pair === pair.id)?.grid;
      return entryOf(lesson, pair, page !== "", grid);
    });
  });
  return (await Promise.all(entries)).flat();
}

/** The lessons that have a page, in each language. */
export async function lessonLists({
  appsDir,
  docsDir,
}: Sources): Promise<Record<Locale, LessonEntry[]>> {
  const lessons = await readLessons(appsDir, { fresh: true });
  const listOf = (dir: string, prefix: string) =>
    lessonsOf(dir).map((id) => ({
      title: titleOf(join(dir, "lessons", `${id}.md`)),
      link: `${prefix}/lessons/${id}`,
      pairs: lessons.find((lesson) => lesson.id === id)?.pairs.length ?? 0,
    }));
  return { en: listOf(docsDir, ""), "zh-TW": listOf(join(docsDir, "zh-TW"), "/zh-TW") };
}

/**
 * A pair with its code and its recorded run.
 *
 * @param lessonId the lesson's folder
 * @param highlight turns TypeScript into HTML; gets the numbers of the lines that the other side does not have
 * @throws Error where there is no such pair
 */
export async function pairPage(
  { appsDir, docsDir }: Sources,
  lessonId: string,
  pairId: string,
  highlight: (code: string, lines: number[]) => Promise<string>,
): Promise<PairPage> {
  const lessons = await readLessons(appsDir, { fresh: true });
  const lesson = lessons.find(({ id }) => id === lessonId);
  const pair = lesson?.pairs.find(({ id }) => id === pairId);
  if (!lesson || !pair) throw new Error(`There is no pair ${lessonId}/${pairId}.`);

  const [pitfall = "", fix = ""] = await Promise.all(
    VARIANTS.map((variant) => readFile(sourceOf(lesson, pair, variant), "utf8")),
  );
  const differing = differingLines(pitfall, fix);
  const recording = await readRecording(docsDir, lessonId);
  const recorded = recording?.pairs.find((entry) => entry.pair === pairId);
  const tried = await readGauntlet(docsDir, lessonId);
  const grid = tried?.pairs.find((entry) => entry.pair === pairId)?.grid;
  return {
    ...entryOf(lesson, pair, true, grid),
    wantsCrash: Boolean(pair.disturb && "crash" in pair.disturb),
    code: {
      pitfall: await highlight(pitfall, differing.pitfall),
      fix: await highlight(fix, differing.fix),
    },
    expect: pair.expect,
    recorded:
      recording && recorded
        ? { ...recorded, recorded: recording.recorded, wrangler: recording.wrangler }
        : null,
    exceptions: exceptionsOf(lessons, lesson, pair),
    tried: tried && grid ? { grid, wrangler: tried.wrangler } : null,
  };
}

/** @throws Error where the cure of an exception is no pair */
function exceptionsOf(lessons: readonly Lesson[], lesson: Lesson, pair: Pair): ExceptionEntry[] {
  return (pair.exceptions ?? []).map(({ trial, breaks, because, cure }) => {
    for (const where of lessons) {
      const found = where.pairs.find((one) => nameOfPair(where, one) === cure);
      if (!found) continue;
      const title = { en: found.title, "zh-TW": PAIRS_IN_CHINESE[cure]?.title ?? found.title };
      return {
        trial,
        breaks,
        because: { en: because, "zh-TW": EXCEPTIONS_IN_CHINESE[because] ?? because },
        cure: { lesson: where.id, id: found.id, title },
      };
    }
    throw new Error(`${nameOfPair(lesson, pair)}: the cure ${cure} is no pair.`);
  });
}

/** The file of a variant. */
const sourceOf = (lesson: Pick<Lesson, "dir">, pair: Pick<Pair, "id">, variant: Variant) =>
  join(lesson.dir, "src", "pitfalls", pair.id, `${variant}.ts`);

/** The file of a lesson's recorded runs. */
export const recordingFile = (docsDir: string, lessonId: string) =>
  join(docsDir, "recorded", `${lessonId}.json`);

/** What is recorded of a lesson, or null. */
export async function readRecording(docsDir: string, lessonId: string): Promise<Recording | null> {
  const text = await readFile(recordingFile(docsDir, lessonId), "utf8").catch(() => null);
  return text === null ? null : JSON.parse(text);
}

/** The numbers of the lines, from 1, that only one side has. */
export function differingLines(pitfall: string, fix: string): Record<Variant, number[]> {
  const lines: Record<Variant, number[]> = { pitfall: [], fix: [] };
  const next = { pitfall: 1, fix: 1 };
  for (const { added, removed, count = 0 } of diffLines(pitfall, fix)) {
    for (const [variant, isHere, isDifferent] of [
      ["pitfall", !added, removed],
      ["fix", !removed, added],
    ] as const) {
      if (!isHere) continue;
      for (let nth = 0; nth < count; nth++) {
        if (isDifferent) lines[variant].push(next[variant]);
        next[variant]++;
      }
    }
  }
  return lines;
}

function entryOf(
  lesson: Lesson,
  pair: Pair,
  hasPage: boolean,
  grid: Grid | undefined,
): CatalogueEntry {
  const name = nameOfPair(lesson, pair);
  const { title, claim, why } = pair;
  return {
    name,
    lesson: lesson.id,
    id: pair.id,
    engine: pair.engine,
    symptom: pair.symptom ?? null,
    text: {
      en: { title, claim, why, disturbed: describeDisturbance(pair) },
      "zh-TW": {
        // A test says which are missing; until then the page is better than none.
        ...(PAIRS_IN_CHINESE[name] ?? { title, claim, why }),
        disturbed: describeDisturbanceInChinese(pair),
      },
    },
    evidence: contrast(pair),
    gauntlet: grid ? countOf(grid, pair.exceptions ?? []) : null,
    hasPage,
  };
}

/** What is expected of the two sides, the kinds that they differ in. */
function contrast({ expect }: Pair): CatalogueEntry["evidence"] {
  const [pitfall, fix] = VARIANTS.map((variant): Record<string, unknown> => ({
    status: "complete",
    ...expect[variant],
  }));
  const kinds = new Set([...Object.keys(pitfall ?? {}), ...Object.keys(fix ?? {})]);
  return [...kinds]
    .filter((kind) => pitfall?.[kind] !== fix?.[kind])
    .map((kind) => ({ kind, pitfall: pitfall?.[kind] ?? 0, fix: fix?.[kind] ?? 0 }));
}
