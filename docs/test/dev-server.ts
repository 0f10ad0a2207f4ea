import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";

const docsDir = join(import.meta.dirname, "..");
const vitepress = join(
  createRequire(import.meta.url).resolve("vitepress/package.json"),
  "..",
  "bin",
  "vitepress.js",
);

/** The site's dev server, in a process group of its own, as a terminal starts it. */
export class DevServer implements AsyncDisposable {
  readonly port: number;
  readonly #process: ChildProcess;
  readonly #output: string[];

  private constructor(port: number, process: ChildProcess, output: string[]) {
    this.port = port;
    this.#process = process;
    this.#output = output;
  }

  /** Starts it on a free port and waits until it answers. */
  static async start(): Promise<DevServer> {
    const port = await freePort();
    const child = spawn(
      process.execPath,
      [vitepress, "dev", "--port", String(port), "--strictPort"],
      { cwd: docsDir, detached: true, stdio: ["ignore", "pipe", "pipe"] },
    );
    const output: string[] = [];
    const ready = Promise.withResolvers<void>();
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output.push(text);
        if (text.includes("Local:")) ready.resolve();
      });
    }
    child.once("exit", () => ready.reject(new Error(`The dev server ended:\n${output.join("")}`)));
    await ready.promise;
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
    const table = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
      .trim()
      .split("\n")
      .map((line) => line.trim().split(/\s+/).map(Number));
    const below = (parent: number): number[] =>
      table.flatMap(([pid = 0, of]) => (of === parent ? [pid, ...below(pid)] : []));
    return below(this.#process.pid ?? 0);
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.interrupt();
  }
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || !address) throw new Error("There is no free port.");
  return address.port;
}
