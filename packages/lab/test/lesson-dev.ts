import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { descendantsOf } from "./processes.ts";

/** For what takes its time on a busy machine. */
export const PATIENTLY = { timeout: 110_000, interval: 100 };

const DEV = join(import.meta.dirname, "../src/dev.ts");

/** A port on which nobody listens. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "localhost");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : 0;
}

/** `lesson-dev`, as it runs in a lesson's folder. */
export function startDev(lesson: string, port: number, temporary: string, options: string[] = []) {
  const dev = spawn(process.execPath, [DEV, "--port", String(port), ...options], {
    cwd: lesson,
    env: {
      ...process.env,
      // What a runtime of these tests has set for itself.
      X_LOCAL_EXPLORER: undefined,
      X_LOCAL_OBSERVABILITY: undefined,
      TMPDIR: temporary,
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
      WRANGLER_SEND_METRICS: "false",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(dev, "exit");
  let output = "";
  dev.stdout.on("data", (chunk) => (output += String(chunk)));
  dev.stderr.on("data", (chunk) => (output += String(chunk)));
  return {
    /** Kills the workerd that runs the Workers. The one that was started before it is wrangler's proxy. */
    kill() {
      const last = descendantsOf(dev.pid ?? 0)
        .filter(({ name }) => name.startsWith("workerd"))
        .toSorted((a, b) => a.started - b.started)
        .at(-1);
      if (!last) throw new Error("No workerd is running.");
      process.kill(last.pid, "SIGKILL");
    },
    pid: dev.pid ?? 0,
    /** What it has written so far. */
    get output() {
      return output;
    },
    says: (text: string) =>
      vi.waitFor(() => expect(output.slice(-2000)).toContain(text), PATIENTLY),
    async stop() {
      dev.kill("SIGTERM");
      await ended;
    },
  };
}
