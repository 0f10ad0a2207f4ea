import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { pairRows, withPairRow, wrongEvidence } from "../src/authoring/pair-table.ts";
import type { Lesson } from "../src/runner/index.ts";
import { runPairCli } from "../src/cli/pair.ts";
import { APPS } from "./fixture.ts";
import { callHere } from "./launch.ts";
import { LessonReader } from "./read-lessons.ts";

const script = (name: string) => join(import.meta.dirname, name);
const ENGINES = ["workflow", "queue", "http"] as const;

let root: string;
let apps: string;
beforeEach(async () => {
  // Beside the fixture, so that its imports and its migrations are found.
  root = await mkdtemp(script(".tmp-"));
  apps = join(root, "apps");
  await cp(APPS, apps, { recursive: true });
  // A folder deeper than the fixture.
  const config = join(apps, "99-fixture/wrangler.jsonc");
  const text = await readFile(config, "utf8");
  await writeFile(config, text.replace("../../../../outside", "../../../../../outside"));
});
afterEach(async () => {
  await rm(root, { recursive: true });
});

function run(file: string, args: string[]) {
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [script(file), ...args], (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
}

/** The command in a Node of its own. */
const pair = (...args: string[]) => run("../src/pair-cli.ts", ["--apps", apps, ...args]);
/** The command in this process: `new` loads no lesson, which a test runner does in its own way. */
const pairHere = (...args: string[]) => callHere(runPairCli, args, apps);

async function readLesson(): Promise<Lesson> {
  const reader = new LessonReader();
  const [lesson] = await reader.read(apps);
  reader.close();
  if (!lesson) throw new Error("The copy of the fixture is gone.");
  return lesson;
}

/** Every file of the copy, with its text. */
async function snapshot(): Promise<Record<string, string>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Object.fromEntries(
    await Promise.all(
      files.map(async ({ parentPath, name }) => {
        const path = join(parentPath, name);
        return [path, await readFile(path, "utf8")] as const;
      }),
    ),
  );
}

describe("pnpm pair new", () => {
  test("makes a pair for each engine, which is read, listed last, and runs as it claims", async () => {
    for (const engine of ENGINES) {
      const { code, stdout, stderr } = await pairHere(
        "new",
        `99/new-${engine}`,
        "--engine",
        engine,
      );
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout.match(/^ {2}\d\. /gm)).toHaveLength(5);
    }
    const { pairs, broken } = await readLesson();
    expect(broken).toEqual([]);
    expect(pairs.slice(-3).map(({ id, engine }) => [id, engine])).toEqual(
      ENGINES.map((engine) => [`new-${engine}`, engine]),
    );

    const names = ENGINES.map((engine) => `99/new-${engine}`);
    const compared = await run("../src/cli.ts", ["--apps", apps, ...names]);
    expect({ code: compared.code, stderr: compared.stderr }).toEqual({ code: 0, stderr: "" });
    expect(compared.stdout.match(/^✓ .*$/gm)).toEqual(
      ENGINES.map((engine) => expect.stringContaining(`new-${engine}`)),
    );
    expect(compared.stdout).toMatch(/\n3 pairs: 3 as expected, 0 not\n$/);

    const checked = await pair("check", "99/new-queue");
    expect(checked.code).toBe(1);
    for (const text of ["pair.ts: what its TODO says", "README.md: a row", "99-fixture.json"]) {
      expect(checked.stdout).toContain(text);
    }
    expect(checked.stdout).toContain("1 pairs: 0 finished, 1 not\n");
  });

  test("takes the path that a shell completes, and puts a row into the lesson's table", async () => {
    const readme = join(apps, "99-fixture/README.md");
    await writeFile(
      readme,
      "| Pair | Disturbed by | Evidence |\n| --- | --- | --- |\n| `a-b` | x | y |\n\nText\n",
    );
    expect((await pairHere("new", "apps/99-fixture/src/pitfalls/new-pair/")).code).toBe(0);
    expect(pairRows(await readFile(readme, "utf8"))).toMatchObject([
      { pair: "a-b" },
      { pair: "new-pair", evidence: "`email.sent` 2 → 1" },
    ]);
  });

  test.each([
    [["new", "98/new-pair"], 'There is no lesson "98"'],
    [["new", "99"], '"99" names no pair'],
    [["new"], "one name"],
    [["new", "99/a-b", "99/c-d"], "one name"],
    [["new", "99/New-Pair"], '"New-Pair" is no name'],
    [["new", "99/switch"], '"switch" is no name'],
    [["new", "99/../a-b"], '"../a-b" is no name'],
    [["new", "99/message-twice"], "There is a folder"],
    [
      ["new", "99/new-pair", "--engine", "cron"],
      '--engine takes workflow, queue, http, not "cron"',
    ],
    [["new", "99/new-pair", "--engine"], "--engine takes a value"],
    [["new", "99/new-pair", "--nope"], "There is no option --nope"],
    [["old", "99/new-pair"], 'There is no "pair old"'],
    [["check", "99/no-such"], 'no pair "no-such"'],
    [[], "Say new, or check"],
  ])("%j is wrong: exit 2, why on stderr, and nothing is written", async (args, text) => {
    const before = await snapshot();
    const { code, stdout, stderr } = await pairHere(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(text);
    expect(stderr).not.toContain("    at ");
    expect(await snapshot()).toEqual(before);
  });

  test("a list of another shape is left alone", async () => {
    await writeFile(join(apps, "99-fixture/src/pitfalls/index.ts"), "export const pairs = [];\n");
    const before = await snapshot();
    const { code, stderr } = await pair("new", "99/new-pair");
    expect(code).toBe(2);
    expect(stderr).toContain("has not the shape that is expected");
    expect(await snapshot()).toEqual(before);
  });

  test("--help says how to call it", async () => {
    const { code, stdout } = await pair("--help");
    expect(code).toBe(0);
    expect(stdout).toContain("Usage: pnpm pair new lesson/name [--engine workflow|queue|http]");
  });
});

test("pnpm pair check names a folder that the lesson does not list", async () => {
  const pitfalls = join(apps, "99-fixture/src/pitfalls");
  await cp(join(pitfalls, "outage"), join(pitfalls, "not-listed"), { recursive: true });
  const { code, stdout } = await pair("check", "99/not-listed");
  expect(code).toBe(1);
  expect(stdout).toContain("index.ts: its import, and its place in the list");
});

describe("the evidence in a table of pairs", () => {
  const expected = {
    pitfall: { status: "errored", "email.sent": 2, "output.rows": 6 },
    fix: { "email.sent": 1, "output.rows": 3 },
  } as const;

  test.each([
    "`email.sent` 2 → 1",
    "`errored` → `complete`",
    "rows 6 → 3, `email.sent` 2 → 1",
    "`card.charged`, `email.bounced` 0 → 0",
  ])("%s is true", (evidence) => {
    expect(wrongEvidence(evidence, expected)).toEqual([]);
  });

  test.each([
    ["`email.sent` 3 → 1", ['"`email.sent` 3 → 1" is not what pitfall expects']],
    ["`email.sent` 2 → 1, rows 6 → 4", ['"rows 6 → 4" is not what fix expects']],
    // Another kind has these numbers.
    ["`card.charged` 2 → 0", ['"`card.charged` 2 → 0" is not what pitfall expects']],
    ["`waiting` → `complete`", ['"`waiting` → `complete`" is not what pitfall expects']],
    ["two mails", ["it says no evidence: `kind` before → after"]],
  ])("%s is wrong", (evidence, wrong) => {
    expect(wrongEvidence(evidence, expected)).toEqual(wrong);
  });

  test("a README without a table gets no row", () => {
    expect(withPairRow("# A\n", { id: "a-b", expect: expected })).toBeNull();
  });
});
