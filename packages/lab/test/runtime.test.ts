import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { LessonRuntime } from "../src/runner/index.ts";
import { APPS, startFixture } from "./fixture.ts";
import { exists, WorkerdWatch } from "./processes.ts";

const PAIR = "crash-after-an-effect";
const FIX = `/pitfalls/${PAIR}/fix`;

let watch: WorkerdWatch;
beforeEach(() => {
  watch = new WorkerdWatch();
});
afterEach(() => {
  watch[Symbol.dispose]();
});

async function startRun(runtime: LessonRuntime): Promise<string> {
  const response = await runtime.fetch(FIX, { method: "POST" });
  expect(response.status).toBe(202);
  return response.headers.get("location") ?? "";
}

async function reportOf(runtime: LessonRuntime, path: string): Promise<Record<string, unknown>> {
  return (await runtime.fetch(path)).json() as Promise<Record<string, unknown>>;
}

describe("a runtime on the fixture", () => {
  let runtime: LessonRuntime;
  let ofAll: WorkerdWatch;
  beforeAll(async () => {
    ofAll = new WorkerdWatch();
    runtime = await startFixture(PAIR);
  });
  afterAll(async () => {
    await runtime.close();
    ofAll[Symbol.dispose]();
  });

  test("crash() ends workerd with SIGKILL and starts another one on the same storage", async () => {
    const path = await startRun(runtime);
    await vi.waitFor(
      async () =>
        expect(await reportOf(runtime, path)).toMatchObject({ hanging: ["accounts.open"] }),
      { timeout: 30_000 },
    );
    const pid = runtime.pid;
    expect(exists(pid)).toBe(true);

    const report = await runtime.crash();

    expect(report).toEqual({ pidBefore: pid, pidAfter: runtime.pid, signal: "SIGKILL" });
    expect(report.pidAfter).not.toBe(report.pidBefore);
    expect(watch.pids).toContain(report.pidAfter);
    expect(exists(report.pidBefore)).toBe(false);
    expect(exists(report.pidAfter)).toBe(true);
    expect(await reportOf(runtime, path)).toMatchObject({
      status: "running",
      evidence: { "account.opened": 1 },
    });
  });

  test("close() ends every workerd, those that took the place of a killed one too", async () => {
    const first = await runtime.crash();
    const second = await runtime.crash();
    expect(second.pidBefore).toBe(first.pidAfter);
    expect(ofAll.pids).toEqual(
      expect.arrayContaining([first.pidBefore, first.pidAfter, second.pidAfter]),
    );
    expect(watch.left).toContain(second.pidAfter);
    await runtime.close();
    expect(ofAll.pids).toEqual(expect.arrayContaining(watch.pids));
    expect(ofAll.left).toEqual([]);
  });
});

test("two that start at once have a workerd and storage each, and one lives on when the other dies", async () => {
  const [first, second] = await Promise.all([startFixture(PAIR), startFixture(PAIR)]);
  try {
    expect(first.pid).not.toBe(second.pid);
    const path = await startRun(first);
    expect((await second.fetch(path)).status).toBe(404);

    const { pidBefore } = await first.crash();
    await first.close();
    expect(exists(pidBefore)).toBe(false);
    expect(exists(second.pid)).toBe(true);
    expect((await second.fetch("/pitfalls")).status).toBe(200);
  } finally {
    await Promise.all([first.close(), second.close()]);
  }
  expect(watch.left).toEqual([]);
});

describe("a lesson that cannot start", () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "lesson-"));
  });
  afterEach(async () => {
    await rm(dir, { recursive: true });
  });

  test("says so where it has no configuration", async () => {
    await expect(LessonRuntime.start(dir)).rejects.toThrow(`There is no wrangler.jsonc in ${dir}.`);
  });

  test("leaves no process behind where its code does not compile", async () => {
    await writeFile(join(dir, "index.ts"), "export default {");
    const config = { name: "broken", main: "index.ts", compatibility_date: "2026-11-01" };
    await writeFile(join(dir, "wrangler.jsonc"), JSON.stringify(config));
    await expect(LessonRuntime.start(dir)).rejects.toThrow("Build failed");
    expect(watch.left).toEqual([]);
  });

  test("leaves no process behind where its migrations fail", async () => {
    await cp(join(APPS, "../../../outside-world/migrations"), join(dir, "migrations"), {
      recursive: true,
    });
    await writeFile(join(dir, "migrations/0002_broken.sql"), "CREATE TABLE runs (run TEXT);");
    await writeFile(join(dir, "index.ts"), "export default { fetch: () => new Response() };");
    const config = {
      name: "broken",
      main: "index.ts",
      compatibility_date: "2026-11-01",
      d1_databases: [{ binding: "WORLD", database_name: "w", database_id: "w" }],
    };
    await writeFile(join(dir, "wrangler.jsonc"), JSON.stringify(config));
    await expect(LessonRuntime.start(dir)).rejects.toThrow("already exists");
    expect(watch.pids.length).toBeGreaterThan(0);
    expect(watch.left).toEqual([]);
  });
});
