import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Stands, at the end of a value, for what is made at random. */
const RANDOM = "RANDOM";

/** How many characters of it. */
const LENGTH = 32;

/** Where they are kept, beside the local state of the lesson's Worker, which git ignores. */
const FILE = "dev-secrets.json";

/** The names of those that are made at random: nobody knows them before they are printed. */
export const madeAtRandom = (wanted: Record<string, string>): string[] =>
  Object.keys(wanted).filter((name) => wanted[name]?.endsWith(RANDOM));

/**
 * The secrets of a lesson on this machine. `RANDOM` at the end of a value is replaced by 32 random characters, the same ones at the next
 * start: a command that was copied from the log goes on working.
 *
 * @param wanted the values by name, such as `{ ADMIN_TOKENS: "dev:RANDOM" }`
 * @param folder absolute path of the local state
 */
export async function localSecrets(
  wanted: Record<string, string>,
  folder: string,
): Promise<Record<string, string>> {
  const file = join(folder, FILE);
  const kept = await keptIn(file);
  const valueOf = (name: string, value: string): string => {
    const [start = "", end] = value.split(RANDOM);
    if (end === undefined) return value;
    const known = kept[name];
    if (
      typeof known === "string" &&
      known.startsWith(start) &&
      known.length === start.length + LENGTH
    )
      return known;
    return start + randomBytes(LENGTH / 2).toString("hex");
  };
  const secrets = Object.fromEntries(
    Object.entries(wanted).map(([name, value]) => [name, valueOf(name, value)] as const),
  );
  await mkdir(folder, { recursive: true });
  await writeFile(file, JSON.stringify(secrets), { mode: 0o600 });
  return secrets;
}

/** What a file holds, or nothing where there is none that can be read. */
async function keptIn(file: string): Promise<Record<string, unknown>> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Record<string, unknown>;
  } catch {
    return {};
  }
}
