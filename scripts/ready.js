/**
 * `node scripts/ready.js [lessons]`: what a script of a package.json runs before itself, so that it finds what it needs on a
 * fresh clone and after a pull. With `lessons`, what runs the lessons suffices: no test runner, no linter, no site. What is
 * there already stays. On any package manager but ours it says in one line what to type.
 *
 * Plain JavaScript: it runs on the machine's own Node.js, before ours is there.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const MODULES = join(ROOT, "node_modules");
/** What was installed, and from what: see {@link wanted}. pnpm removes it with the rest when it begins anew. */
const NOTE = join(MODULES, ".ready.json");

const { packageManager } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
// Its hash is for Corepack.
const [pnpm] = packageManager.split("+");
const [, needed] = /^pnpm@(\d+)/.exec(pnpm) ?? [];
const [, major = "0"] = /^pnpm\/(\d+)/.exec(process.env.npm_config_user_agent ?? "") ?? [];
if (Number(major) < Number(needed)) {
  const event = process.env.npm_lifecycle_event ?? "";
  const script = event.startsWith("pnpm:") ? "install" : event.replace(/^pre/, "") || "compare";
  console.error(`This repository needs pnpm ${needed}, which npx brings: npx -y ${pnpm} ${script}`);
  process.exit(1);
}

const [what = "all"] = process.argv.slice(2);
// What pnpm itself runs before it installs: nothing but the check above.
if (what !== "pnpm") makeReady(what === "lessons");

/** Installs, unless what is there suffices and is what the lockfile and the manifests say now. */
function makeReady(lessonsSuffice) {
  const from = wanted();
  const noted = readNote();
  if (noted.from === from && (noted.what === "all" || lessonsSuffice)) return;

  // Never less than what is there: an install by hand may have brought all.
  const installed = existsSync(join(MODULES, ".modules.yaml"));
  const onlyLessons = lessonsSuffice && (!installed || noted.what === "lessons");
  // Its words go to standard error: standard output belongs to the script that comes.
  const { status } = spawnSync(
    process.env.npm_execpath ?? "pnpm",
    ["install", ...(onlyLessons ? ["--prod"] : [])],
    { cwd: ROOT, stdio: ["ignore", 2, 2] },
  );
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(NOTE, JSON.stringify({ what: onlyLessons ? "lessons" : "all", from: wanted() }));
}

/** A digest of everything that says what is to be installed. */
function wanted() {
  const manifests = ["apps", "packages"].flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((name) => join(folder, name, "package.json")),
  );
  const hash = createHash("sha256");
  for (const file of [
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    ".pnpmfile.mjs",
    "package.json",
    join("docs", "package.json"),
    ...manifests,
  ]) {
    const path = join(ROOT, file);
    if (existsSync(path)) hash.update(`${file}\n`).update(readFileSync(path));
  }
  return hash.digest("hex");
}

function readNote() {
  try {
    return JSON.parse(readFileSync(NOTE, "utf8"));
  } catch {
    return {};
  }
}
