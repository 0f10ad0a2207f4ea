/**
 * `read-lessons.ts <apps> [changes] …`: prints the lessons of a folder as JSON. With changes, each an object of texts by
 * path, it makes them one after the other and prints what it reads afresh after each.
 */
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readLessons } from "../src/runner/lessons.ts";

const [apps = "", ...changes] = process.argv.slice(2);
const seen = [];
for (const [nth, change] of changes.entries()) {
  const files: Record<string, string> = JSON.parse(change);
  for (const [path, text] of Object.entries(files)) {
    const file = join(apps, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    // Faster than any editor: a time of its own for each change.
    await utimes(file, new Date(), new Date(Date.now() + 1000 * nth));
  }
  seen.push(await readLessons(apps, { fresh: true }));
}
process.stdout.write(JSON.stringify(changes.length > 0 ? seen : await readLessons(apps)));
