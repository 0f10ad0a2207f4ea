/** The recorded grids: a file for each lesson, small enough to be read in a diff. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { VARIANTS } from "@durable-lessons/lab";
import type { Grid, GridTrial } from "../theme/gauntlet.ts";

/** What is recorded of a lesson's gauntlet. */
export interface GauntletRecording {
  lesson: string;
  /** The version of wrangler that ran it. */
  wrangler: string;
  pairs: { pair: string; grid: Grid }[];
}

/** In the file, a trial that is borne is its name. */
type StoredTrial = GridTrial | string;

/** A file of `recorded/gauntlet/`. */
interface StoredRecording extends Omit<GauntletRecording, "pairs"> {
  pairs: { pair: string; grid: { [variant in keyof Grid]: StoredTrial[] } }[];
}

/** The file of a lesson's recorded grids. */
export const gauntletFile = (docsDir: string, lessonId: string) =>
  join(docsDir, "recorded", "gauntlet", `${lessonId}.json`);

/** What is recorded of a lesson's gauntlet, or null. */
export async function readGauntlet(
  docsDir: string,
  lessonId: string,
): Promise<GauntletRecording | null> {
  const text = await readFile(gauntletFile(docsDir, lessonId), "utf8").catch(() => null);
  if (text === null) return null;
  const stored: StoredRecording = JSON.parse(text);
  const read = (trials: StoredTrial[]) =>
    trials.map((one) => (typeof one === "string" ? { trial: one, broken: [] } : one));
  return {
    ...stored,
    pairs: stored.pairs.map(({ pair, grid }) => ({
      pair,
      grid: { pitfall: read(grid.pitfall), fix: read(grid.fix) },
    })),
  };
}

/** The text of a file: a line for each trial. The same grids are the same bytes. */
export function gauntletText({ lesson, wrangler, pairs }: GauntletRecording): string {
  const trial = ({ trial: name, broken }: GridTrial): StoredTrial =>
    broken.length === 0 ? name : { trial: name, broken };
  const list = (trials: GridTrial[]) =>
    trials.map((one) => `\n    ${JSON.stringify(trial(one))}`).join(",");
  const blocks = pairs.map(({ pair, grid }) => {
    const sides = VARIANTS.map((variant) => `   "${variant}": [${list(grid[variant])}\n   ]`);
    return `  { "pair": ${JSON.stringify(pair)}, "grid": {\n${sides.join(",\n")}\n  } }`;
  });
  const head = ` "lesson": ${JSON.stringify(lesson)},\n "wrangler": ${JSON.stringify(wrangler)},`;
  return `{\n${head}\n "pairs": [\n${blocks.join(",\n")}\n ]\n}\n`;
}
