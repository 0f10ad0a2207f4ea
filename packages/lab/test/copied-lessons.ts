import { cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const ROOT = join(import.meta.dirname, "../../..");

/**
 * Copies lessons, so that a test may write into them: a reader's own attempts stay as they are. What they import is the
 * repository's.
 *
 * @param numbers of the lessons, such as `01`: all unless named
 * @returns the folder of the lessons, and what removes it
 */
export async function copyLessons(
  numbers: readonly string[] = [],
): Promise<AsyncDisposable & { apps: string }> {
  const root = await mkdtemp(join(tmpdir(), "lessons-"));
  const apps = join(root, "apps");
  await mkdir(apps);
  // Migrations and the base of all tsconfigs are named by relative paths.
  for (const name of ["packages", "node_modules", "tsconfig.base.json", "package.json"]) {
    await symlink(join(ROOT, name), join(root, name));
  }
  const names = await readdir(join(ROOT, "apps"));
  for (const name of names.filter((one) => /^\d\d-/.test(one) && !one.endsWith("-planted"))) {
    if (numbers.length > 0 && !numbers.includes(name.slice(0, 2))) continue;
    const from = join(ROOT, "apps", name);
    await cp(from, join(apps, name), {
      recursive: true,
      filter: (path) => !NOT_COPIED.has(basename(path)),
    });
    await symlink(join(from, "node_modules"), join(apps, name, "node_modules"));
  }
  return { apps, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
}

const NOT_COPIED = new Set(["node_modules", "yours.ts", "dist", ".wrangler", ".turbo"]);
