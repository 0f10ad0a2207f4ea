import { readdir, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Pair, VARIANTS, YOURS } from "../pair.ts";

/** A folder of `apps/` that has pairs. What they are is not known until it is read: see {@link readLesson}. */
export interface LessonFolder {
  /** The folder's name, such as `01-onboarding-workflow`. */
  id: string;
  /** Absolute path of the folder. */
  dir: string;
}

/** A lesson that was read. */
export interface Lesson extends LessonFolder {
  /** In reading order. */
  pairs: Pair[];
  /** What could not be read. */
  broken: BrokenPair[];
}

/** A pair, or the list of the pairs, that could not be read. */
export interface BrokenPair extends Reason {
  /** The name of the pair's folder, or `index.ts`. */
  pair: string;
}

interface Reason {
  /** Absolute path of the file that is to be repaired. */
  file: string;
  /** From 1, where it is known. */
  line?: number;
  message: string;
}

/** How lessons are read. */
export interface ReadOptions {
  /** Read pairs again that have changed since this process read them first. */
  fresh?: boolean;
}

/** The folder of a lesson's pairs. */
export const pitfallsOf = (lessonDir: string) => join(lessonDir, "src", "pitfalls");

/** A file's name as a reader of the repository says it: `apps/01-…/src/…`. */
export const nameInRepository = ({ dir }: Pick<LessonFolder, "dir">, file: string) =>
  relative(dirname(dirname(dir)), file);

/** The name that commands take: `01/double-submit`. */
export const nameOfPair = ({ id }: Pick<LessonFolder, "id">, pair: Pick<Pair, "id">) =>
  `${id.slice(0, 2)}/${pair.id}`;

/** The file of the reader's own attempt at a pair, which need not be there. */
export const yoursOf = ({ dir }: Pick<LessonFolder, "dir">, pair: string) =>
  join(pitfallsOf(dir), pair, `${YOURS}.ts`);

/** The list of a lesson's pairs, in that folder. */
const INDEX = "index.ts";

/**
 * Reads the pairs that a lesson's `src/pitfalls/index.ts` lists; the code of their variants is not loaded. What is wrong
 * in a file is no error but `broken`, and the other pairs are read. Where the list itself cannot be loaded, every folder
 * with a `pair.ts` counts, by name.
 */
export async function readLesson(
  { id, dir }: LessonFolder,
  { fresh = false }: ReadOptions = {},
): Promise<Lesson> {
  const root = pitfallsOf(dir);
  const folders = await readFolders(root, fresh);
  const index = await readIndex(root, folders, fresh);
  const listed = index.entries?.map((entry) => folderOf(entry, folders, root)) ?? folders;

  const unique = [...new Set(listed)];
  const pairs = unique.flatMap(({ pair, reason }) => (reason ? [] : [pair as Pair]));
  const broken = unique.flatMap(({ name, reason }) => (reason ? [{ pair: name, ...reason }] : []));
  // A pair that cannot be loaded breaks the list that imports it: it is enough to name the pair.
  if (index.reason && broken.length === 0) broken.push({ pair: INDEX, ...index.reason });
  const twice = listed.find((folder, at) => listed.indexOf(folder) !== at);
  if (twice) {
    broken.push({
      pair: INDEX,
      file: join(root, INDEX),
      message: `it lists "${twice.name}" twice`,
    });
  }
  return { id, dir, pairs, broken };
}

/** A folder with a `pair.ts`, and what came of reading it. */
interface Folder {
  name: string;
  /** Its default export, whatever that is. */
  pair?: unknown;
  reason?: Reason;
}

/** Every folder with a `pair.ts`, in the order of the names. */
async function readFolders(root: string, fresh: boolean): Promise<Folder[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const folders = await Promise.all(
    names.toSorted().map(async (name): Promise<Folder[]> => {
      const file = join(root, name, "pair.ts");
      const changedAt = await mtimeOf(file);
      if (changedAt === null) return [];
      const { module, reason } = await load(file, fresh ? changedAt : null);
      if (!module) return [{ name, reason }];
      const pair = module["default"];
      const message = wrongShape(pair, name);
      return [{ name, pair, ...(message && { reason: { file, message } }) }];
    }),
  );
  return folders.flat();
}

/** What the list holds, or why it could not be loaded. */
async function readIndex(
  root: string,
  folders: readonly Folder[],
  fresh: boolean,
): Promise<{ entries?: unknown[]; reason?: Reason }> {
  const file = join(root, INDEX);
  // It may have failed because of a pair that has been repaired since.
  const sources = [file, ...folders.map(({ name }) => join(root, name, "pair.ts"))];
  const changes = await Promise.all(sources.map(mtimeOf));
  const version = Math.max(...changes.map((changedAt) => changedAt ?? 0));
  const { module, reason } = await load(file, fresh ? version : null);
  if (module) {
    const entries = module["pairs"];
    return Array.isArray(entries)
      ? { entries }
      : { reason: { file, message: "it exports no list `pairs`" } };
  }
  // The list gets a pair as Node knows it, and Node keeps what could not be linked or run, repaired or not.
  const kept = await Promise.all(
    folders.map(({ name }) => load(join(root, name, "pair.ts"), null)),
  );
  const isOld = fresh && kept.some((pair) => pair.module?.["default"] === undefined);
  return isOld ? {} : { reason };
}

/** The folder of an entry of the list, which may hold an older reading of the pair. */
function folderOf(entry: unknown, folders: readonly Folder[], root: string): Folder {
  const id = isRecord(entry) ? entry["id"] : undefined;
  const file = join(root, INDEX);
  return (
    folders.find(({ name }) => name === id) ??
    folders.find(({ pair }) => pair !== undefined && pair === entry) ?? {
      name: INDEX,
      reason: { file, message: `it lists a pair "${String(id)}" that has no folder` },
    }
  );
}

/** Loads a module of the lesson. */
async function load(
  file: string,
  version: number | null,
): Promise<
  { module: Record<string, unknown>; reason?: undefined } | { module?: undefined; reason: Reason }
> {
  // Node keeps a module for each URL.
  const query = version === null ? "" : `?v=${Math.trunc(version)}`;
  try {
    return { module: await import(pathToFileURL(file).href + query) };
  } catch (error) {
    return { reason: reasonOf(error, file) };
  }
}

/** A path of the lesson in Node's `stack`: `/a/pair.ts:2` before it for a syntax error, `file:///a/pair.ts?v=1:2:3` in it. */
const PLACE = /(?:(file:\/\/\/[^\s?]+\.ts)(?:\?v=\d+)?|^((?:[A-Z]:)?[/\\].*\.ts)):(\d+)/m;

function reasonOf(error: unknown, file: string): Reason {
  if (!(error instanceof Error)) return { file, message: String(error) };
  const message = `${error.name}: ${error.message}`;
  const [, url, path, line] = PLACE.exec(error.stack ?? "") ?? [];
  const place = url ? fileURLToPath(url) : path;
  return place ? { file: place, line: Number(line), message } : { file, message };
}

const ENGINES = ["workflow", "queue", "http"] satisfies Pair["engine"][];

/** What a pair lacks without which it cannot be run, or undefined. */
function wrongShape(pair: unknown, folder: string): string | undefined {
  if (pair === undefined) return "it has no default export";
  if (!isRecord(pair)) return "its default export is no object";
  const { id, engine, expect } = pair;
  if (id !== folder) return `id is "${String(id)}", but the folder is "${folder}"`;
  if (!ENGINES.some((known) => known === engine)) {
    return `engine is "${String(engine)}", not one of ${ENGINES.join(", ")}`;
  }
  const input = engine === "queue" ? "messages" : engine === "http" ? "body" : null;
  if (input && typeof pair[input] !== "function") return `${input} is missing`;
  if (!isRecord(expect)) return "expect is missing";
  for (const variant of VARIANTS) {
    if (!isRecord(expect[variant])) return `expect.${variant} is missing`;
    if (typeof pair[variant] !== "function") {
      return `${variant} is missing: () => import("./${variant}.ts")`;
    }
  }
  return undefined;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** When a file or folder was last changed, in milliseconds since the epoch; null where there is none. */
export const mtimeOf = (path: string): Promise<number | null> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  );
