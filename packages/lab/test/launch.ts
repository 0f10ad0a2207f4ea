import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { APPS } from "./fixture.ts";
import { descendantsOf, stillRunning } from "./processes.ts";

/** The command's file. */
export const CLI = join(import.meta.dirname, "../src/cli.ts");

// Where colours could come from, and a place where tools like to use them.
const { FORCE_COLOR: _force, NO_COLOR: _no, ...inherited } = process.env;
const ENV = { ...inherited, CI: "true", TERM: "xterm-256color" };

/** The command while it runs. */
export interface Run {
  child: ChildProcess;
  /** What it wrote so far. */
  output: { stdout: string; stderr: string };
  /** Its exit code, or the signal that ended it. */
  ended: Promise<NodeJS.Signals | number | null>;
}

const running: ChildProcess[] = [];

/** Kills what was launched and still runs. */
export function killLaunched(): void {
  for (const child of running.splice(0)) child.kill("SIGKILL");
}

/** Starts a command in a process group of its own. */
export function launch(command: string, args: string[]): Run {
  // As a shell does it with what it runs.
  const child = spawn(command, args, { env: ENV, detached: true });
  running.push(child);
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const ended = once(child, "close").then(([code, signal]) => code ?? signal);
  return { child, output, ended };
}

/** Starts `compare`, on the fixture unless told otherwise. */
export const compare = (args: string[], apps = APPS) =>
  launch(process.execPath, [CLI, "--apps", apps, ...args]);

/** Its process id, which is its group's too. */
export function pidOf({ child }: Run): number {
  if (child.pid === undefined) throw new Error("The command did not start.");
  return child.pid;
}

/** Everything below the command, once both of its workerds run: wrangler's proxy and the lesson's own. */
export const workerds = (run: Run) =>
  vi.waitFor(
    () => {
      const descendants = descendantsOf(pidOf(run));
      expect(descendants.filter(({ name }) => name.startsWith("workerd"))).toHaveLength(2);
      return descendants;
    },
    { timeout: 30_000, interval: 10 },
  );

/** Waits until all of them have ended. */
export const gone = (processes: Parameters<typeof stillRunning>[0]) =>
  vi.waitFor(() => expect(stillRunning(processes)).toEqual([]), { timeout: 10_000 });

/** Starts a command of ours on a terminal of its own, 120 by 40. */
export function launchOnTerminal(file: string, args: string[]): Run {
  const quoted = [process.execPath, file, ...args].map((word) => `'${word}'`).join(" ");
  return launch("script", ["-qec", `stty cols 120 rows 40; exec ${quoted}`, "/dev/null"]);
}

/**
 * Calls a command in this process, where that is enough: a Node of its own takes half a second of a processor.
 *
 * @param cli what its file calls, with the words and the folder of the lessons
 */
export async function callHere(
  cli: (args: string[], appsDir: string) => Promise<number>,
  args: string[],
  apps = APPS,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const output = { stdout: "", stderr: "" };
  const spies = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      output[name] += String(text);
      return true;
    }),
  );
  try {
    return { code: await cli(args, apps), ...output };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
