import { type ChildProcess, spawn } from "node:child_process";
import { channel } from "node:diagnostics_channel";
import { basename } from "node:path";

/** Waits for a word on standard input, and kills the process whose id it was given where the input ends without one. */
const WAIT_OR_KILL = 'read -r _ || kill -s KILL "$0"';

/**
 * Has a child killed as soon as this process is gone, however it goes. A child does not see the end of the process that
 * started it, and workerd goes on serving its port (measured locally with wrangler 4.156.2).
 *
 * A shell, in a session of its own, holds the other end of a pipe: only the operating system closes that without a word. The
 * child's id cannot have gone to another process before: this process says the word when it hears of the child's end.
 * Without `/bin/sh`, as on Windows, nothing is done.
 *
 * @param child that runs
 */
export function endWithThisProcess(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined || process.platform === "win32") return;
  const shell = spawn("/bin/sh", ["-c", WAIT_OR_KILL, String(pid)], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  shell.once("error", () => undefined).unref();
  // It may be gone before the word comes.
  shell.stdin.on("error", () => undefined);
  child.once("exit", () => shell.stdin.end("over\n"));
}

/**
 * Calls back with every workerd that this process starts from now on, once it runs. Wrangler keeps the handles to itself; Node
 * tells of every child on its diagnostics channel `child_process`.
 *
 * @param callback called in the asynchronous context of whoever started it
 */
export function onWorkerd(callback: (workerd: ChildProcess) => void): void {
  channel("child_process").subscribe((message) => {
    const { process: child } = message as { process: ChildProcess };
    // Node tells of a child before it knows its name.
    child.once("spawn", () => {
      if (basename(child.spawnfile).startsWith("workerd")) callback(child);
    });
  });
}
