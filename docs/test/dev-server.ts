import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const docsDir = join(import.meta.dirname, "..");
/** The command `vitepress`. */
export const VITEPRESS = join(
  createRequire(import.meta.url).resolve("vitepress/package.json"),
  "..",
  "bin",
  "vitepress.js",
);

const endsWithParent = import.meta.resolve("@durable-lessons/crash-test/ends-with-parent");

/**
 * The site's dev server, in a process group of its own, as a terminal starts it. It ends with the process that started it,
 * however that one ends.
 */
export class DevServer implements AsyncDisposable {
  readonly port: number;
  readonly #process: ChildProcess;
  readonly #output: string[];

  private constructor(port: number, process: ChildProcess, output: string[]) {
    this.port = port;
    this.#process = process;
    this.#output = output;
  }

  /**
   * Starts it on a free port and waits until it takes connections there.
   *
   * @param options `endsWithParent`: false starts it as `pnpm dev` does
   */
  static async start({ endsWithParent: ends = true } = {}): Promise<DevServer> {
    const port = await freePort();
    const child = spawn(
      process.execPath,
      [
        ...(ends ? ["--import", endsWithParent] : []),
        VITEPRESS,
        "dev",
        "--port",
        String(port),
        "--strictPort",
      ],
      { cwd: docsDir, detached: true, stdio: ["ignore", "pipe", "pipe", "ipc"] },
    );
    const output: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => output.push(text));
    }
    while (!(await takesConnections(port))) {
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`The dev server ended:\n${output.join("")}`);
      }
      await delay(50);
    }
    return new DevServer(port, child, output);
  }

  /** The address of the site. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** What it has printed. */
  get output(): string {
    return this.#output.join("");
  }

  /** The process ids below it. */
  get descendants(): number[] {
    return descendantsOf(this.#process.pid ?? 0);
  }

  /** Those of them that are a runtime. A bundler stays, once one was built. */
  get runtimes(): number[] {
    const named = execFileSync("ps", ["-A", "-o", "pid=,comm="], { encoding: "utf8" })
      .split("\n")
      .filter((line) => line.trim().endsWith("workerd"))
      .map((line) => Number.parseInt(line, 10));
    const runtimes = new Set(named);
    return this.descendants.filter((pid) => runtimes.has(pid));
  }

  /** Asks its lab for something, as the page does unless headers say otherwise. */
  ask(action: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.url}/__lab/${action}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  }

  /** Presses Ctrl-C: the whole group gets the signal. Resolves when the server has ended. */
  async interrupt(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#process;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    const ended = once(this.#process, "exit");
    process.kill(-pid, "SIGINT");
    await ended;
  }

  /** Kills the server, and none of what it has started. Resolves when it has ended. */
  async kill(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.interrupt();
  }
}

/** The ids of the processes that `pid` started, and of those that they started. */
export function descendantsOf(pid: number): number[] {
  const table = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  const below = (parent: number): number[] =>
    table.flatMap(([child = 0, of]) => (of === parent ? [child, ...below(child)] : []));
  return below(pid);
}

/** Does the operating system know this process? */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || !address) throw new Error("There is no free port.");
  return address.port;
}
