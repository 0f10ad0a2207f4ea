/** The command `pnpm practice`: `pnpm test` takes what starts few processes, `pnpm test:soak` all. */
import { existsSync } from "node:fs";
import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SOAKING } from "@durable-lessons/test-kit/soak";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { runPracticeCli } from "../src/cli/practice.ts";
import { progressFileOf, readProgress, writeProgress } from "../src/practice-progress.ts";
import { copyLessons } from "./copied-lessons.ts";
import {
  callHere,
  gone,
  killLaunched,
  launch,
  launchOnTerminal,
  pidOf,
  workerds,
} from "./launch.ts";
import { HAS_PROC } from "./processes.ts";

const CLI = join(import.meta.dirname, "../src/practice-cli.ts");
const PAIR = "01/side-effect-outside-step";
const solvedAt = "2026-11-29T00:00:00.000Z";

let copy: Awaited<ReturnType<typeof copyLessons>>;
let folder: string;
let progressFile: string;

beforeAll(async () => {
  copy = await copyLessons(["01", "03"]);
  folder = join(copy.apps, "01-onboarding-workflow/src/pitfalls/side-effect-outside-step");
  progressFile = progressFileOf(dirname(copy.apps));
});
afterAll(() => copy[Symbol.asyncDispose]());
beforeEach(async () => {
  await rm(progressFile, { force: true });
  await rm(join(folder, "yours.ts"), { force: true });
});
afterEach(killLaunched);

const practice = (...args: string[]) => callHere(runPracticeCli, args, copy.apps);
const yours = () => readFile(join(folder, "yours.ts"), "utf8");
const take = (side: "fix" | "pitfall") =>
  copyFile(join(folder, `${side}.ts`), join(folder, "yours.ts"));

describe("a call that runs nothing", () => {
  test("--help says how to call it", async () => {
    const { code, stdout, stderr } = await practice("--help");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const word of ["list", "reset", "--once", "--json", "--timeout", "Exit code"]) {
      expect(stdout).toContain(word);
    }
  });

  test.each([
    [["--nope"], "There is no option --nope.\nTry: pnpm practice --help"],
    [["--timeout", "soon"], "--timeout takes seconds"],
    [["01/nope"], 'has no pair "nope"'],
    [["07/nope"], 'There is no lesson "07"'],
    [["01"], '"01" is a lesson'],
    [[PAIR, "01/double-submit"], "One pair at a time."],
    [["reset"], "practice reset takes the name of a pair"],
    [["list", PAIR], "practice list takes no name."],
  ])("%j is wrong: exit 2", async (args, text) => {
    const { code, stdout, stderr } = await practice(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(text);
  });

  test("list shows what is solved, and which pair has no exercise", async () => {
    await writeProgress(progressFile, PAIR, { solvedAt });
    const { code, stdout } = await practice("list");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^01-onboarding-workflow {2}1 of \d+$/m);
    expect(stdout).toContain(`  ✓ ${PAIR}\n`);
    expect(stdout).toContain("  · 01/double-submit\n");
    expect(stdout).toContain("  – 03/tiny-batches");
    const rows = JSON.parse((await practice("list", "--json")).stdout);
    expect(rows).toContainEqual({
      pair: PAIR,
      title: "A side effect outside a step",
      isExercise: true,
      isBegun: false,
      solvedAt,
    });
  });

  test("reset makes the file the pitfall again, and forgets that it is solved", async () => {
    await take("fix");
    await writeProgress(progressFile, PAIR, { solvedAt });
    expect((await practice("reset", PAIR)).code).toBe(0);
    expect(await yours()).toBe(await readFile(join(folder, "pitfall.ts"), "utf8"));
    expect(await readProgress(progressFile)).toEqual({});
  });

  test("a pair whose settings are the lesson has no exercise, and the call says so", async () => {
    const { code, stdout } = await practice("03/tiny-batches");
    expect(code).toBe(0);
    expect(stdout).toContain("the settings of their queues are the lesson");
  });

  test("once all are solved there is no next one", async () => {
    const rows: { pair: string }[] = JSON.parse((await practice("list", "--json")).stdout);
    for (const { pair } of rows) await writeProgress(progressFile, pair, { solvedAt });
    expect(await practice()).toEqual({ code: 0, stdout: "All pairs are solved.\n", stderr: "" });
  });
});

describe("judged once, as it is without a terminal", () => {
  test("the next one is begun as the pitfall, and is not yet solved: exit 1", async () => {
    await writeProgress(progressFile, "01/plain-async-function", { solvedAt });
    const { code, stdout, stderr } = await practice();
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(await yours()).toBe(await readFile(join(folder, "pitfall.ts"), "utf8"));
    expect(stdout).toContain(`${PAIR}  A side effect outside a step\n`);
    expect(stdout).toContain("disturbed by: the runtime is killed while accounts.open hangs");
    expect(stdout).toMatch(/ yours +goal\n {2}email\.sent +2 +1\n {2}account\.opened +1 +1\n/);
    expect(stdout).toContain("✗ not yet\n  email.sent: twice; it should be once\n");
  });

  test("the fix's text is solved: exit 0, and it is written down", async () => {
    await take("fix");
    const { code, stdout, stderr } = await practice(PAIR, "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      lesson: "01-onboarding-workflow",
      pair: "side-effect-outside-step",
      solved: true,
      types: [],
      result: { evidence: { "email.sent": 1, "account.opened": 1 }, differences: [] },
      trials: { broken: [] },
    });
    expect((await readProgress(progressFile))[PAIR]?.solvedAt).toBeDefined();
  });

  test("what cannot be built is not run, and is shown with its line", async () => {
    await writeFile(join(folder, "yours.ts"), "export async function run() {\n  return (1;\n}\n");
    const { code, stdout } = await practice(PAIR);
    expect(code).toBe(1);
    expect(stdout).toContain("✗ not yet: it cannot be built");
    expect(stdout).toContain("yours.ts:2:12: TS1005: ')' expected.");
    expect(stdout).not.toContain("running it");
  });

  test.skipIf(!SOAKING)("what it throws and writes is shown with its line", async () => {
    const text = `export async function run() {\n  console.log("here I am");\n  throw new Error("no");\n}\n`;
    await writeFile(join(folder, "yours.ts"), text);
    const { code, stdout } = await practice(PAIR);
    expect(code).toBe(1);
    expect(stdout).toContain("yours: threw Error: no");
    expect(stdout).toContain("side-effect-outside-step/yours.ts:3:9");
    expect(stdout).toContain("console.log: here I am");
  });
});

describe.skipIf(!HAS_PROC)(
  "broken off (skipped without /proc: nothing tells of the processes)",
  () => {
    test("Ctrl-C ends it with 130 and leaves no process behind", async () => {
      const run = launch(process.execPath, [CLI, "--apps", copy.apps, PAIR]);
      const processes = await workerds(run);
      process.kill(-pidOf(run), "SIGINT");
      expect(await run.ended).toBe(130);
      expect(run.output.stderr).toBe("Stopped.\n");
      await gone(processes);
    });
  },
);

describe.skipIf(!SOAKING || !existsSync("/usr/bin/script"))("on a terminal it watches", () => {
  const shown = (run: { output: { stdout: string } }, text: string) =>
    vi.waitFor(() => expect(run.output.stdout).toContain(text), { timeout: 60_000 });

  test("each save is judged; the keys give hints, the list, the next one; q ends it with 0", async () => {
    const run = launchOnTerminal(CLI, ["--apps", copy.apps, PAIR]);
    const press = (key: string) => run.child.stdin?.write(key);
    await shown(run, "email.sent: twice; it should be once");
    for (const hint of ["Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3"]) {
      press("h");
      await shown(run, hint);
    }
    await take("fix");
    await shown(run, "✓");
    await vi.waitFor(
      async () => expect(Object.keys(await readProgress(progressFile))).toEqual([PAIR]),
      {
        timeout: 60_000,
      },
    );
    press("l");
    await vi.waitFor(() => expect(run.output.stdout).toMatch(/1 of (?!3\b)\d+/), {
      timeout: 60_000,
    });
    press("r");
    await shown(run, "(y/n)");
    press("n");
    await shown(run, "It stays as it is.");
    press("r");
    await vi.waitFor(() => expect(run.output.stdout.split("(y/n)")).toHaveLength(3));
    press("y");
    await vi.waitFor(async () => expect(await readProgress(progressFile)).toEqual({}));
    expect(await yours()).toBe(await readFile(join(folder, "pitfall.ts"), "utf8"));
    press("n");
    // What is pressed while the pair is closed waits for the next one.
    press("q");
    expect(await run.ended).toBe(0);
  });

  test("Ctrl-C there ends it with 130 and leaves no process behind", async () => {
    const run = launchOnTerminal(CLI, ["--apps", copy.apps, PAIR]);
    const processes = await workerds(run);
    run.child.stdin?.write("\u0003");
    expect(await run.ended).toBe(130);
    await gone(processes);
  });
});
