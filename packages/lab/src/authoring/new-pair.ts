import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Pair } from "../pair.ts";
import { type LessonFolder, pitfallsOf } from "../runner/read-lesson.ts";
import { withPairRow } from "./pair-table.ts";
import { STUBS } from "./stubs.ts";

/** A pair that cannot be made: the message says why. Nothing was written. */
export class NewPairError extends Error {
  override readonly name = "NewPairError";
}

/**
 * Writes the three files of a new pair, which run and show a difference, and puts it at the end of its lesson's list and
 * of the table in its README. Ctrl-C on the way does not end it halfway, and what is there is not overwritten.
 *
 * @param id the name of the pair: kebab-case, two words or more
 * @returns the paths of what was written or changed, from the lesson's folder
 * @throws NewPairError where the name is none, or taken, or the list is not of the shape that the lessons have
 */
export function newPair({ dir }: LessonFolder, id: string, engine: Pair["engine"]): string[] {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)+$/.test(id)) {
    throw new NewPairError(
      `"${id}" is no name of a pair: small words with "-" between, such as double-submit.`,
    );
  }
  const folder = join(pitfallsOf(dir), id);
  if (existsSync(folder)) throw new NewPairError(`There is a folder ${folder} already.`);
  const index = join(pitfallsOf(dir), "index.ts");
  const list = withPair(readFileSync(index, "utf8"), id);
  if (list === null) {
    throw new NewPairError(
      `${index} has not the shape that is expected: imports of "./a-pair/pair.ts", a list \`pairs\` with a line for each, and no ${nameOf(id)} yet.`,
    );
  }
  const readme = join(dir, "README.md");
  const stub = STUBS[engine];
  const table = existsSync(readme)
    ? withPairRow(readFileSync(readme, "utf8"), { id, expect: stub.expect })
    : null;

  const wait = () => undefined;
  // Nothing here waits, so a signal finds all of it done; the shell's own Ctrl-C would not have waited.
  process.on("SIGINT", wait).on("SIGTERM", wait);
  try {
    mkdirSync(folder);
    try {
      for (const [file, text] of Object.entries(stub.files)) {
        writeFileSync(join(folder, file), text.replaceAll("NAME", id), { flag: "wx" });
      }
      writeFileSync(index, list);
    } catch (error) {
      rmSync(folder, { recursive: true });
      throw error;
    }
    if (table) writeFileSync(readme, table);
  } finally {
    process.off("SIGINT", wait).off("SIGTERM", wait);
  }
  return [
    ...Object.keys(stub.files).map((file) => `src/pitfalls/${id}/${file}`),
    "src/pitfalls/index.ts",
    ...(table ? ["README.md"] : []),
  ];
}

/** The text of the list with one pair more, at its end; null where its shape is another. */
function withPair(text: string, id: string): string | null {
  const name = nameOf(id);
  const [lastImport] = [...text.matchAll(/^import \w+ from "\.\/[^"]+\/pair\.ts";\n/gm)].slice(-1);
  const list = /^export const pairs\b[^=]*= \[\n(?: {2}\w+,\n)*(?=\];)/m.exec(text);
  if (!lastImport || !list || new RegExp(`\\b${name}\\b`).test(text)) return null;
  const imported = lastImport.index + lastImport[0].length;
  const listed = list.index + list[0].length;
  return `${text.slice(0, imported)}import ${name} from "./${id}/pair.ts";\n${text.slice(imported, listed)}  ${name},\n${text.slice(listed)}`;
}

/** `double-submit` becomes `doubleSubmit`. */
const nameOf = (id: string) => id.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
