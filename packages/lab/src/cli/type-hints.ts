import { spawn } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Lesson } from "../runner/index.ts";
import { yoursOf } from "../runner/read-lesson.ts";

/** How long the compiler may take. */
const LIMIT_MS = 30_000;

/** A type error in a pair's folder. */
export interface TypeHint {
  /** The name of the pair's folder. */
  pair: string;
  /** `apps/01-…/src/pitfalls/…/pitfall.ts:12:5`. */
  at: string;
  message: string;
}

/**
 * The type errors in a lesson's pairs, if somebody has edited one since the packages were installed: who has not edited
 * anything need not wait for the compiler. None where there is no compiler.
 */
export async function typeHints({ dir }: Lesson): Promise<TypeHint[]> {
  const pitfalls = join(dir, "src", "pitfalls");
  if (!(await wasEdited(pitfalls, join(dir, "node_modules")))) return [];
  const output = await typeCheck(dir);
  return output.split("\n").flatMap((line) => {
    const [, file, place, message] = /^(.+?)\((\d+,\d+)\): error (.+)$/.exec(line) ?? [];
    if (!file || !place || !message) return [];
    const path = join(dir, file);
    const [pair = "", ...rest] = relative(pitfalls, path).split("/");
    // The reader's own attempt is no part of what is compared.
    if (pair === ".." || rest.length === 0 || path === yoursOf({ dir }, pair)) return [];
    const name = relative(join(dir, "..", ".."), path);
    return [{ pair, at: `${name}:${place.replace(",", ":")}`, message }];
  });
}

async function wasEdited(folder: string, installed: string): Promise<boolean> {
  const time = async (path: string) => (await stat(path)).mtimeMs;
  try {
    const since = await time(installed);
    const names = await readdir(folder, { recursive: true });
    const times = await Promise.all(names.map((name) => time(join(folder, name))));
    return times.some((edited) => edited > since);
  } catch {
    return false;
  }
}

/** What the compiler says, or nothing. */
function typeCheck(dir: string): Promise<string> {
  return new Promise((resolve) => {
    const args = ["--noEmit", "--pretty", "false"];
    const child = spawn(join(dir, "node_modules", ".bin", "tsc"), args, {
      cwd: dir,
      stdio: ["ignore", "pipe", "ignore"],
      timeout: LIMIT_MS,
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.once("error", () => resolve("")).once("close", () => resolve(output));
  });
}
