/** Runs one way of `worker.ts` on a workerd of its own, and watches the heap of its isolate. */
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** One run: the file, and the most memory that the isolate has had. */
export interface Measured {
  way: string;
  bytes: number;
  rows: number;
  /** Peak of JavaScript's heap, garbage included, and of its buffers. */
  peakBytes: number;
}

/** Measures one way with a file of about that many megabytes. */
export async function measure(way: string, megabytes: number): Promise<Measured> {
  process.env["WRANGLER_LOG"] ??= "error";
  process.env["CLOUDFLARE_CF_FETCH_ENABLED"] ??= "false";
  const { unstable_startWorker: startWorker } = await import("wrangler");
  const persist = await mkdtemp(join(tmpdir(), "etl-bench-"));
  const config = join(import.meta.dirname, "wrangler.jsonc");
  migrate(config, persist);
  const worker = await startWorker({
    config,
    dev: { server: { port: 0 }, inspector: { port: 0 }, persist },
  });
  try {
    const url = await worker.url;
    const file = fileOf(megabytes);
    await fetch(new URL("/file", url), { method: "PUT", body: file });
    const inspector = await worker.inspectorUrl;
    if (!inspector) throw new Error("Wrangler gives no inspector.");
    const heap = await watchHeap(`ws://${inspector.host}/ws`);
    const response = await fetch(new URL(`/${way}`, url));
    const text = await response.text();
    const peakBytes = await heap.stop();
    if (!response.ok) throw new Error(`${way}: ${response.status} ${text}`);
    return { way, bytes: file.size, rows: JSON.parse(text).rows, peakBytes };
  } finally {
    await worker.dispose();
    await rm(persist, { recursive: true, force: true });
  }
}

function migrate(config: string, persist: string): void {
  const wrangler = createRequire(import.meta.url).resolve("wrangler/package.json");
  const bin = join(wrangler, "..", "bin", "wrangler.js");
  const args = [
    "d1",
    "migrations",
    "apply",
    "DB",
    "--local",
    "-c",
    config,
    "--persist-to",
    persist,
  ];
  const { status, stderr } = spawnSync(process.execPath, [bin, ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}

function fileOf(megabytes: number): Blob {
  const parts = ["sale_id,sold_at,shop,currency,amount\n"];
  let bytes = 0;
  for (let nth = 0; bytes < megabytes * 1e6; nth++) {
    const row = `sale-${nth},2026-11-28T09:30:00Z,"Berlin, Mitte",EUR,${nth % 1000}.99\n`;
    parts.push(row);
    bytes += row.length;
  }
  return new Blob(parts);
}

interface Answer {
  id: number;
  result: { usedSize?: number; backingStorageSize?: number };
}

/** Asks the isolate for its heap again and again, through the inspector as DevTools do. */
async function watchHeap(url: string): Promise<{ stop(): Promise<number> }> {
  // Wrangler wants to know the origin, as a browser tells it. Node's WebSocket takes headers; the types are those of Workers.
  const options: unknown = { headers: { origin: "http://localhost" } };
  const socket = new WebSocket(url, options as string[]);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve, { once: true });
    socket.addEventListener("error", reject, { once: true });
  });
  let peak = 0;
  const stopped = new AbortController();
  const waiting = new Map<number, (answer: Answer) => void>();
  socket.addEventListener("message", ({ data }) => {
    const answer: Answer = JSON.parse(String(data));
    waiting.get(answer.id)?.(answer);
  });
  const loop = (async () => {
    for (let id = 1; !stopped.signal.aborted; id++) {
      const answer = new Promise<Answer>((resolve) => waiting.set(id, resolve));
      socket.send(JSON.stringify({ id, method: "Runtime.getHeapUsage" }));
      // Now and then the inspector leaves a question without an answer: then it is asked again.
      const none: Answer = { id, result: {} };
      const { result } = await Promise.race([answer, delay(2000, none)]);
      const { usedSize = 0, backingStorageSize = 0 } = result;
      peak = Math.max(peak, usedSize + backingStorageSize);
      await delay(10);
    }
  })();
  return {
    async stop() {
      stopped.abort();
      await loop;
      // Closed before, it would have told less than there was.
      if (socket.readyState !== WebSocket.OPEN) throw new Error("The inspector went away.");
      socket.close();
      return peak;
    },
  };
}
