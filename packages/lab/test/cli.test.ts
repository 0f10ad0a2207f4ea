import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { runCli } from "../src/cli/run.ts";
import { type MadePair, makeLesson } from "./broken-lesson.ts";
import { APPS, fixtureLesson } from "./fixture.ts";
import { callHere, compare, killLaunched, type Run } from "./launch.ts";

afterEach(killLaunched);

async function finished({ output, ended }: Run) {
  const code = await ended;
  return { code, ...output };
}

describe("a call that runs nothing", () => {
  test.each(["--help", "-h"])("%s prints how to call it, and is a success", async (flag) => {
    const { code, stdout, stderr } = await finished(compare([flag]));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("Usage: pnpm compare [lesson[/pair]] … [--gauntlet] [--json]");
    for (const option of ["--gauntlet", "--fixes", "--json", "--timeout", "--help"])
      expect(stdout).toContain(option);
  });

  test.each([
    [["--nope"], ["--nope", "Try: pnpm compare --help"]],
    [
      ["99", "--json=1"],
      ["--json", "Try: pnpm compare --help"],
    ],
    [["--timeout", "soon"], ['--timeout takes seconds, more than 0 and at most 3600, not "soon".']],
    [["--timeout", "0"], ["--timeout takes seconds"]],
    [["--timeout=-1"], ["--timeout takes seconds"]],
    [["--timeout", "3601"], ["--timeout takes seconds"]],
    [["98"], ['There is no lesson "98".', "  99-fixture\n"]],
    [
      ["99", "98", "--json"],
      ['There is no lesson "98".', "  99-fixture\n"],
    ],
    [
      ["99/message-twice", "99/nope"],
      ['no pair "nope"', "  99/message-twice\n"],
    ],
    [["--apps", "/nowhere"], ["There are no lessons in /nowhere.\n"]],
  ])("%j is wrong: exit 2, and what would be right on stderr", async (args, texts) => {
    const { code, stdout, stderr } = await callHere(runCli, args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    for (const text of texts) expect(stderr).toContain(text);
    expect(stderr).not.toContain("    at ");
  });

  test("an unknown pair is answered with every pair there is", async () => {
    const { code, stdout, stderr } = await finished(compare(["99/nope"]));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    const { pairs } = await fixtureLesson();
    expect(stderr.split("\n")).toEqual([
      'Lesson 99-fixture has no pair "nope". Its pairs are:',
      ...pairs.map(({ id }) => `  99/${id}`),
      "",
    ]);
  });
});

test("in a pipe --json prints one JSON array of everything, and nothing else anywhere", async () => {
  const engines: MadePair["engine"][] = ["workflow", "queue", "http"];
  await using lesson = await makeLesson(engines.map((engine) => ({ id: `a-${engine}`, engine })));
  const { code, stdout, stderr } = await finished(compare(["--json"], lesson.apps));
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const results: unknown = JSON.parse(stdout);
  const side = {
    run: expect.any(String),
    status: expect.any(String),
    evidence: expect.any(Object),
    expected: expect.any(Object),
    differences: [],
    ok: true,
  };
  expect(results).toMatchObject(
    engines.map((engine) => ({
      lesson: "98-made",
      pair: `a-${engine}`,
      title: `a-${engine}`,
      claim: `a-${engine}`,
      disturb: engine === "workflow" ? { crash: { during: "open account" } } : null,
      variants: { pitfall: side, fix: side },
      ok: true,
      ms: expect.any(Number),
    })),
  );
});

// A run takes seconds: the tests below look at different parts of one as text and one as JSON.
describe("evidence of which some is not as expected, in a pipe", () => {
  const NAMES = ["99/message-twice", "99/request-twice"];
  let apps: string;
  let text: Awaited<ReturnType<typeof finished>>;
  beforeAll(async () => {
    // Beside the fixture, so that its imports and its migrations are found.
    apps = await mkdtemp(join(import.meta.dirname, ".tmp-"));
    const lesson = join(apps, "99-fixture");
    await cp(join(APPS, "99-fixture"), lesson, { recursive: true });
    const file = join(lesson, "src/pitfalls/message-twice/pair.ts");
    const code = await readFile(file, "utf8");
    // A pitfall that is its own fix.
    const turned = code.replace(".mailPerMessage", ".mailWithKeyPerMessage");
    if (turned === code) throw new Error(`Nothing to turn in ${file}.`);
    await writeFile(file, turned);
    text = await finished(compare(["99/crash-during-a-step", ...NAMES], apps));
  });
  afterAll(() => rm(apps, { recursive: true }));

  test("the text has neither colours nor a progress line, and shows both sides of what was asked for", () => {
    const { stdout, stderr } = text;
    expect(stderr).toBe("");
    expect(stdout).not.toContain("\u001B");
    expect(stdout).not.toContain("\r");
    expect(stdout).toMatch(/^\n99-fixture\n/);
    expect(stdout).toMatch(
      /workerd \d+ ended by SIGKILL; workerd \d+ started on the same storage\n/,
    );
    const crash = stdout.slice(stdout.indexOf("crash-during-a-step"));
    expect(crash).toContain("code outside a step runs again");
    expect(crash).toContain('disturbed by: the runtime is killed during step "open account"');
    expect(crash).toMatch(/ +pitfall +fix\n/);
    expect(crash).toMatch(/email\.sent +2 +1\n/);
  });

  test("exit 1, and the text names kind, expected and seen", () => {
    expect(text.code).toBe(1);
    expect(text.stdout).toContain("✗ message-twice");
    expect(text.stdout).toContain("pitfall: email.sent: expected 2, seen 1\n");
    expect(text.stdout).toContain("✓ crash-during-a-step");
    expect(text.stdout).toContain("✓ request-twice");
    expect(text.stdout).toMatch(/\n3 pairs: 2 as expected, 1 not\n$/);
  });

  test("exit 1, and so does the JSON", async () => {
    const json = await finished(compare([...NAMES, "--json"], apps));
    expect({ code: json.code, stderr: json.stderr }).toEqual({ code: 1, stderr: "" });
    expect(JSON.parse(json.stdout)).toMatchObject([
      {
        pair: "message-twice",
        ok: false,
        variants: {
          pitfall: {
            ok: false,
            expected: { "email.sent": 2 },
            evidence: { "email.sent": 1 },
            differences: [{ kind: "email.sent", expected: 2, seen: 1 }],
          },
          fix: { ok: true, differences: [] },
        },
      },
      { pair: "request-twice", ok: true },
    ]);
  });
});
