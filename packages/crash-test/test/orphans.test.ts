import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, expect, test } from "vitest";
import { exists } from "./exists.ts";

const SRC = join(import.meta.dirname, "..", "src");

/** A process that starts a runtime, says which workerd runs it, and stays. */
const OWNER = `
  const { Runtime } = await import(${JSON.stringify(pathToFileURL(join(SRC, "runtime.ts")).href)});
  const config = { name: "w", main: "worker.js", compatibility_date: "2026-11-01" };
  const runtime = await Runtime.start({
    root: ${JSON.stringify(import.meta.dirname)},
    workers: [{ config }],
  });
  process.send(runtime.pid);
`;

/** What may be left where a test fails. */
const begun: number[] = [];
afterEach(() => {
  for (const pid of begun.splice(0)) if (exists(pid)) process.kill(pid, "SIGKILL");
});

/** The process ids of every workerd that a process has started. */
function workerdsOf(parent: number): number[] {
  return execFileSync("ps", ["-A", "-o", "pid=,ppid=,comm="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, of, name]) => Number(of) === parent && name?.endsWith("workerd"))
    .map(([pid]) => Number(pid));
}

/** Starts Node, in a process group of its own, and waits for the number that it sends. */
async function started(args: string[]) {
  const child = spawn(process.execPath, args, {
    detached: true,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const [pid] = await Promise.race([
    once(child, "message"),
    once(child, "exit").then(() => Promise.reject(new Error("It ended before."))),
  ]);
  begun.push(Number(pid));
  return { child, pid: Number(pid) };
}

test.skipIf(process.platform === "win32")(
  "no workerd outlives a process that is killed with SIGKILL",
  async () => {
    const { child, pid } = await started(["--input-type=module", "--eval", OWNER]);
    const workerds = workerdsOf(child.pid ?? 0);
    // The harness has a proxy beside it.
    expect(workerds).toHaveLength(2);
    expect(workerds).toContain(pid);
    child.kill("SIGKILL");
    await expect.poll(() => workerds.filter(exists), { timeout: 20_000 }).toEqual([]);
  },
);

test.skipIf(process.platform === "win32")(
  "what was started with `ends-with-parent` ends with the process that started it, and its children of the same kind too",
  async () => {
    const preload = pathToFileURL(join(SRC, "ends-with-parent.ts")).href;
    const innermost = "process.send(process.pid); setInterval(() => undefined, 1000);";
    // As wrangler's command starts wrangler: with its own `execArgv` and a channel.
    const inner = `
      const child = require("node:child_process").spawn(
        process.execPath,
        [...process.execArgv.slice(0, 2), "--eval", ${JSON.stringify(innermost)}],
        { stdio: ["ignore", "inherit", "inherit", "ipc"] },
      );
      child.on("message", (pid) => process.send(pid));
    `;
    const owner = `
      const child = require("node:child_process").spawn(
        process.execPath,
        ["--import", ${JSON.stringify(preload)}, "--eval", ${JSON.stringify(inner)}],
        { stdio: ["ignore", "inherit", "inherit", "ipc"] },
      );
      child.on("message", (pid) => process.send(pid));
    `;
    const { child, pid } = await started(["--eval", owner]);
    expect(exists(pid)).toBe(true);
    child.kill("SIGKILL");
    await expect.poll(() => exists(pid), { timeout: 20_000 }).toBe(false);
  },
);
