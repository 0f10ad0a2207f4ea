import type { ChildProcess } from "node:child_process";
import { channel } from "node:diagnostics_channel";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { buildProblems, Runtime, TimeLimitError, within } from "../src/index.ts";
import { exists } from "./exists.ts";

const config = {
  name: "counter",
  main: "worker.js",
  compatibility_date: "2026-11-01",
  d1_databases: [
    { binding: "DB", database_name: "db", database_id: "db", migrations_dir: "migrations" },
  ],
};

let root: string;
let runtime: Runtime | undefined;
beforeEach(async () => {
  root = await makeRoot();
});
afterEach(async () => {
  await runtime?.close();
  runtime = undefined;
  await rm(root, { recursive: true });
});

/** A folder with the Worker of these tests, its configuration and its migrations. */
async function makeRoot(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "crash-test-"));
  await cp(import.meta.dirname, folder, { recursive: true });
  await writeFile(join(folder, "wrangler.json"), JSON.stringify(config));
  return folder;
}

async function start(options: { startTimeoutMs?: number } = {}): Promise<Runtime> {
  runtime = await Runtime.start({ root, workers: [{ configPath: "wrangler.json" }], ...options });
  return runtime;
}

async function visits(started: Runtime, path: string): Promise<unknown> {
  return (await started.fetch(path)).json();
}

const source = (text: string) => writeFile(join(root, "worker.js"), text);

describe("a runtime", () => {
  // One runtime, in the order in which it lives: what it keeps, what it loses, how it is lost.
  let started: Runtime;
  let ownRoot: string;
  beforeAll(async () => {
    ownRoot = await makeRoot();
    started = await Runtime.start({ root: ownRoot, workers: [{ configPath: "wrangler.json" }] });
  });
  afterAll(async () => {
    await started.close();
    await rm(ownRoot, { recursive: true });
  });

  test("takes a configuration as a file or as an object, and applies its migrations", async () => {
    expect(await visits(started, "/count")).toEqual({ visits: 1 });
    const other = await Runtime.start({ root, workers: [{ config }] });
    try {
      expect(await visits(other, "/count")).toEqual({ visits: 1 });
    } finally {
      await other.close();
    }
  });

  test("tells what its Workers wrote, once", async () => {
    started.takeLogs();
    await started.fetch("/say?what=hello");
    await vi.waitFor(() =>
      expect(started.takeLogs()).toMatchObject([{ level: "error", message: "said hello" }]),
    );
    expect(started.takeLogs()).toEqual([]);
  });

  test("keeps its storage over a crash and loses it in a reset", async () => {
    await started.reset();
    await visits(started, "/count");
    const report = await started.crash();
    expect(report).toEqual({
      pidBefore: expect.any(Number),
      pidAfter: started.pid,
      signal: "SIGKILL",
    });
    expect(exists(report.pidBefore)).toBe(false);
    expect(await visits(started, "/count")).toEqual({ visits: 2 });

    await started.reset();
    expect(await visits(started, "/")).toEqual({ visits: 0 });
  });

  test("says that workerd has ended by itself, and not that it was asked to", async () => {
    let lost: string | undefined;
    void started.lost.then((how) => (lost = how));
    // It was reset and killed above, too.
    await started.crash();
    expect((await started.fetch("/")).status).toBe(200);
    expect(lost).toBeUndefined();

    process.kill(started.pid, "SIGTERM");
    await vi.waitFor(() => expect(lost).toMatch(/^ended (by SIGTERM|with code \d+)$/));
  });

  test("is closed while a Worker blocks it", async () => {
    const blocked = await start();
    blocked.fetch("/block").catch(() => undefined);
    const { pid } = blocked;
    await blocked.close();
    expect(exists(pid)).toBe(false);
  });
});

describe("a Worker that cannot start", () => {
  test("because it does not compile is named with file and line, and is built again on request", async () => {
    const started = await start();
    await source("export default {\n  fetch: () => new Response(\n};");
    const error: unknown = await started.rebuild().catch((reason: unknown) => reason);
    expect(buildProblems(error)).toEqual([
      {
        message: expect.any(String),
        file: expect.stringContaining("worker.js"),
        line: 3,
        column: 1,
      },
    ]);
    await source('export default { fetch: () => new Response("mended") };');
    await started.rebuild();
    expect(await (await started.fetch("/")).text()).toBe("mended");
    await source('export default { fetch: () => new Response("twice") };');
    await started.rebuild();
    expect(await (await started.fetch("/")).text()).toBe("twice");
  });

  // The harness starts its proxy first, and a second workerd when that one listens. Where a start is given up between the
  // two, the second one comes late.
  test.each([150, 300, 350, 400, 600, 1000, 2000])(
    "because it blocks is given up after %i ms, and no process is left",
    async (startTimeoutMs) => {
      const pids = new Set<number>();
      const onSpawn = (message: unknown) => {
        const { process: child } = message as { process: ChildProcess };
        child.once("spawn", () => {
          if (child.spawnfile.includes("workerd")) pids.add(child.pid ?? 0);
        });
      };
      channel("child_process").subscribe(onSpawn);
      await source("for (;;);\nexport default {};");
      await expect(start({ startTimeoutMs })).rejects.toThrow(TimeLimitError);
      await vi.waitFor(() => {
        expect(pids.size).toBeGreaterThan(0);
        expect([...pids].filter(exists)).toEqual([]);
      });
      channel("child_process").unsubscribe(onSpawn);
    },
  );
});

describe("a time limit", () => {
  test("gives back what ends in time, and throws what fails in time", async () => {
    expect(await within(Promise.resolve("done"), 1000, "late")).toBe("done");
    await expect(within(Promise.reject(new Error("no")), 1000, "late")).rejects.toThrow("no");
  });

  test("is no build problem", () => {
    expect(buildProblems(new TimeLimitError("late"))).toEqual([]);
  });

  test("says what it was told to, at the time at which it ran out", async () => {
    let waitingFor = "its start";
    const limit = within(new Promise(() => undefined), 20, () => `waiting for ${waitingFor}`);
    waitingFor = "its end";
    await expect(limit).rejects.toThrow("waiting for its end");
  });
});
