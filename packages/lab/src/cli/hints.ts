import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { structuredPatch } from "diff";
import type { Pair } from "../pair.ts";
import { type LessonFolder, pitfallsOf } from "../runner/read-lesson.ts";

/** The hints at a pair, each says more than the one before: the mechanism, where it is, the fix. */
export async function hintsAt(lesson: LessonFolder, pair: Pair): Promise<string[]> {
  const read = (name: string) => readFile(join(pitfallsOf(lesson.dir), pair.id, name), "utf8");
  const [pitfall, fix] = await Promise.all([read("pitfall.ts"), read("fix.ts")]);
  return [pair.why, whereOf(pitfall, fix), fixOf(pitfall, fix)];
}

/** The lines of the pitfall that the fix changes, and those after which it has something more. */
function whereOf(pitfall: string, fix: string): string {
  const source = pitfall.split("\n");
  const places = hunksOf(pitfall, fix, 0).flatMap(({ oldStart, oldLines }) => {
    // An addition stands after the line that is named.
    const lines = source.slice(oldStart - 1, oldStart - 1 + Math.max(oldLines, 1));
    const isCode = lines.some((line) => line.trim() !== "" && !/^(import |\} from )/.test(line));
    return isCode ? lines.map((line, nth) => numbered(oldStart + nth, line)) : [];
  });
  return ["Look at these lines of pitfall.ts:", ...places].join("\n");
}

const numbered = (number: number, line: string) => `${String(number).padStart(4)}  ${line}`;

function fixOf(pitfall: string, fix: string): string {
  const lines = hunksOf(pitfall, fix, 3).flatMap(({ oldStart, lines: changed }) => [
    `@@ line ${oldStart} @@`,
    ...changed,
  ]);
  return ["From pitfall.ts to fix.ts:", ...lines].join("\n");
}

const hunksOf = (pitfall: string, fix: string, context: number) =>
  structuredPatch("pitfall.ts", "fix.ts", pitfall, fix, undefined, undefined, { context }).hunks;
