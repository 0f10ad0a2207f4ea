import type { ChildProcess } from "node:child_process";
import { channel } from "node:diagnostics_channel";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";

/** Does this system tell of its processes under /proc? */
export const HAS_PROC = existsSync("/proc/self/stat");

interface ProcessEntry {
  pid: number;
  name: string;
  state: string;
  parent: number;
  /** When it was started, in ticks since the machine was. Process ids begin anew when they are used up. */
  started: number;
}

/** The processes below `pid` that run. One that has ended, and waits to be reaped, does not. */
export function descendantsOf(pid: number): ProcessEntry[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => processEntry(Number(name)) ?? []);
  const below = (parent: number): ProcessEntry[] =>
    all.flatMap((entry) => (entry.parent === parent ? [entry, ...below(entry.pid)] : []));
  return below(pid).filter(runs);
}

/** Those of `entries` that still run. */
export const stillRunning = (entries: readonly ProcessEntry[]) =>
  entries.filter(({ pid, name }) => {
    const now = processEntry(pid);
    return now !== null && now.name === name && runs(now);
  });

const runs = ({ state }: ProcessEntry) => state !== "Z" && state !== "X";

function processEntry(pid: number): ProcessEntry | null {
  let stat;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return null;
  }
  // pid (name) state parent …; the name may hold anything, brackets too.
  const end = stat.lastIndexOf(")");
  const fields = stat.slice(end + 2).split(" ");
  const [state = "", parent = ""] = fields;
  const name = stat.slice(stat.indexOf("(") + 1, end);
  return { pid, name, state, parent: Number(parent), started: Number(fields[19]) };
}

/** Does the operating system know this process id? */
export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
}

/** Notes every workerd that this process starts. esbuild, of which there is one for a whole process, is not of interest. */
export class WorkerdWatch implements Disposable {
  readonly #children: ChildProcess[] = [];

  constructor() {
    channel("child_process").subscribe(this.#onSpawn);
  }

  /** The process ids, in the order of their start. */
  get pids(): number[] {
    return this.#children
      .filter(({ spawnfile }) => basename(spawnfile).startsWith("workerd"))
      .flatMap(({ pid }) => pid ?? []);
  }

  /** Those of them that the operating system still knows. */
  get left(): number[] {
    return this.pids.filter(exists);
  }

  [Symbol.dispose](): void {
    channel("child_process").unsubscribe(this.#onSpawn);
  }

  // Node tells of a child before it knows its name.
  readonly #onSpawn = (message: unknown) => {
    this.#children.push((message as { process: ChildProcess }).process);
  };
}
