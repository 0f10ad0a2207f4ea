/** What a reader has solved: one file of the working copy, which git ignores. The command and the site both read and write it. */
import { randomUUID } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** What is known of one pair. */
export interface PairProgress {
  /** When it was solved first, as an ISO date. */
  solvedAt?: string;
}

/** By the short names of the pairs: `01/double-submit`. */
export type PracticeProgress = Record<string, PairProgress>;

/** The file of the progress, in the folder that holds `apps`. */
export const progressFileOf = (root: string) => join(root, ".practice.json");

const VERSION = 1;

/** What the file says. Of what is not there, or is broken, nothing is known. */
export async function readProgress(file: string): Promise<PracticeProgress> {
  const text = await readFile(file, "utf8").catch(() => "");
  const content = parsed(text);
  if (!isRecord(content) || content["version"] !== VERSION || !isRecord(content["pairs"]))
    return {};
  return Object.fromEntries(
    Object.entries(content["pairs"]).flatMap(([pair, entry]) => {
      if (!isRecord(entry)) return [];
      const { solvedAt } = entry;
      return [[pair, typeof solvedAt === "string" ? { solvedAt } : {}]];
    }),
  );
}

/**
 * Changes what is known of one pair; null forgets it. Whoever reads meanwhile gets the old file or the new one, whole.
 *
 * @throws Error where the file cannot be written
 */
export async function writeProgress(
  file: string,
  pair: string,
  progress: PairProgress | null,
): Promise<void> {
  const { [pair]: _, ...others } = await readProgress(file);
  const pairs = progress ? { ...others, [pair]: progress } : others;
  const next = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFile(next, `${JSON.stringify({ version: VERSION, pairs }, null, 2)}\n`);
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}

/** Notes that a pair is solved; when it was first, stays. */
export async function noteSolved(file: string, name: string): Promise<void> {
  const known = (await readProgress(file))[name];
  await writeProgress(file, name, {
    ...known,
    solvedAt: known?.solvedAt ?? new Date().toISOString(),
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
