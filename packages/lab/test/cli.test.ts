import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { APPS, fixtureLesson } from "./fixture.ts";
import { descendantsOf, HAS_PROC, stillRunning } from "./processes.ts";

const CLI = join(import.meta.dirname, "../src/cli.ts");

// Where colours could come from, and a place where tools like to use them.
const { FORCE_COLOR: _force, NO_COLOR: _no, ...inherited } = process.env;
const ENV = { ...inherited, CI: "true", TERM: "xterm-256color" };

interface Run {
  child: ChildProcess;
  /** What it wrote so far. */
  output: { stdout: string; stderr: string };
  /** Its exit code, or the signal that ended it. */
  ended: Promise<NodeJS.Signals | number | null>;
}

const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});

function launch(command: string, args: string[]): Run {
  // A process group of its own, as a shell gives it to what it runs.
  const child = spawn(command, args, { env: ENV, detached: true });
  running.push(child);
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const ended = once(child, "close").then(([code, signal]) => code ?? signal);
  return { child, output, ended };
}

const compare = (args: string[], apps = APPS) =>
  launch(process.execPath, [CLI, "--apps", apps, ...args]);

async function finished({ output, ended }: Run) {
  const code = await ended;
  return { code, ...output };
}

function pidOf({ child }: Run): number {
  if (child.pid === undefined) throw new Error("The command did not start.");
  return child.pid;
}

describe("a call that runs nothing", () => {
  test.each(["--help", "-h"])("%s prints how to call it, and is a success", async (flag) => {
    const { code, stdout, stderr } = await finished(compare([flag]));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("Usage: pnpm compare [lesson[/pair]] … [--json]");
    for (const option of ["--json", "--timeout", "--help"]) expect(stdout).toContain(option);
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
    const { code, stdout, stderr } = await finished(compare(args));
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

describe("in a pipe", () => {
  test("--json prints one JSON array of everything, and nothing else anywhere", async () => {
    const { code, stdout, stderr } = await finished(compare(["--json"]));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const results: unknown = JSON.parse(stdout);
    const { pairs } = await fixtureLesson();
    const side = {
      run: expect.any(String),
      status: expect.any(String),
      evidence: expect.any(Object),
      expected: expect.any(Object),
      differences: [],
      ok: true,
    };
    expect(results).toMatchObject(
      pairs.map(({ id, title, claim, disturb }) => ({
        lesson: "99-fixture",
        pair: id,
        title,
        claim,
        disturb: disturb ?? null,
        variants: { pitfall: side, fix: side },
        ok: true,
        ms: expect.any(Number),
      })),
    );
  });

  test("the text has neither colours nor a progress line, and shows both sides of what was asked for", async () => {
    const { code, stdout, stderr } = await finished(
      compare(["99/crash-during-a-step", "99/message-twice"]),
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
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
    expect(stdout).toMatch(/\n2 pairs: 2 as expected, 0 not\n$/);
  });
});

describe("evidence that is not as expected", () => {
  let apps: string | undefined;
  afterEach(async () => {
    if (apps) await rm(apps, { recursive: true });
  });

  test("exit 1, and the output names kind, expected and seen: a pitfall that is its own fix", async () => {
    // Beside the fixture, so that its imports and its migrations are found.
    apps = await mkdtemp(join(import.meta.dirname, ".tmp-"));
    const lesson = join(apps, "99-fixture");
    await cp(join(APPS, "99-fixture"), lesson, { recursive: true });
    const file = join(lesson, "src/pitfalls/message-twice/pair.ts");
    const code = await readFile(file, "utf8");
    const turned = code.replace(".mailPerMessage", ".mailWithKeyPerMessage");
    expect(turned).not.toBe(code);
    await writeFile(file, turned);

    const names = ["99/message-twice", "99/request-twice"];
    const text = await finished(compare(names, apps));
    expect({ code: text.code, stderr: text.stderr }).toEqual({ code: 1, stderr: "" });
    expect(text.stdout).toContain("✗ message-twice");
    expect(text.stdout).toContain("pitfall: email.sent: expected 2, seen 1\n");
    expect(text.stdout).toContain("✓ request-twice");
    expect(text.stdout).toMatch(/\n2 pairs: 1 as expected, 1 not\n$/);

    const json = await finished(compare([...names, "--json"], apps));
    expect(json.code).toBe(1);
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

describe.skipIf(!HAS_PROC)(
  "broken off (skipped without /proc: nothing tells of the processes)",
  () => {
    test("Ctrl-C ends it with 130 and leaves no process behind", async () => {
      const run = compare([]);
      const workers = await workerds(run);
      // To the whole group, as a terminal sends it.
      process.kill(-pidOf(run), "SIGINT");
      expect(await run.ended).toBe(130);
      expect(run.output.stderr).toBe("Stopped.\n");
      await gone(workers);
    });

    test("SIGTERM ends it with 143 and leaves no process behind", async () => {
      const run = compare(["--json"]);
      const workers = await workerds(run);
      process.kill(pidOf(run), "SIGTERM");
      expect(await run.ended).toBe(143);
      expect(run.output).toEqual({ stdout: "", stderr: "Stopped.\n" });
      await gone(workers);
    });

    test("the reader of its pipe goes away: it ends without a word and without a process", async () => {
      const run = compare(["99/message-twice"]);
      const workers = await workerds(run);
      run.child.stdout?.destroy();
      expect(await run.ended).toBe(1);
      expect(run.output.stderr).toBe("");
      await gone(workers);
    });
  },
);

/** Everything below the command, once both of its workerds run: wrangler's proxy and the lesson's own. */
const workerds = (run: Run) =>
  vi.waitFor(
    () => {
      const descendants = descendantsOf(pidOf(run));
      expect(descendants.filter(({ name }) => name.startsWith("workerd"))).toHaveLength(2);
      return descendants;
    },
    { timeout: 30_000, interval: 10 },
  );

const gone = (processes: Parameters<typeof stillRunning>[0]) =>
  vi.waitFor(() => expect(stillRunning(processes)).toEqual([]), { timeout: 10_000 });

describe.skipIf(!existsSync("/usr/bin/script"))(
  "on a terminal (skipped without /usr/bin/script: nothing gives us one)",
  () => {
    const onTerminal = (args: string[]) => {
      const command = [process.execPath, CLI, "--apps", APPS, ...args];
      const quoted = command.map((word) => `'${word}'`).join(" ");
      return launch("script", ["-qec", `stty cols 120 rows 40; exec ${quoted}`, "/dev/null"]);
    };

    test("it offers the pairs, and Ctrl-C leaves it with 130 and nothing run", async () => {
      const run = onTerminal([]);
      await vi.waitFor(
        () => {
          expect(run.output.stdout).toContain("Which pairs shall run?");
          expect(run.output.stdout).toContain("99/crash-after-an-effect");
        },
        { timeout: 30_000 },
      );
      const { pairs } = await fixtureLesson();
      // There are more of them than the list shows at once.
      run.child.stdin?.write("\u001B[B".repeat(pairs.length - 1));
      await vi.waitFor(() => {
        for (const { id } of pairs) expect(run.output.stdout).toContain(`99/${id}`);
      });
      run.child.stdin?.write("\u0003");
      expect(await run.ended).toBe(130);
      expect(run.output.stdout).not.toContain("as expected");
    });

    test("it runs what was chosen of the list", async () => {
      const run = onTerminal([]);
      await vi.waitFor(() => expect(run.output.stdout).toContain("99/crash-after-an-effect"), {
        timeout: 30_000,
      });
      const { pairs } = await fixtureLesson();
      const down = "\u001B[B".repeat(pairs.findIndex(({ id }) => id === "message-twice"));
      run.child.stdin?.write(`${down} \r`);
      expect(await run.ended).toBe(0);
      expect(run.output.stdout).toContain("1 pair: 1 as expected, 0 not");
      // In colours, with a line that is written anew while it works and is gone at the end.
      expect(run.output.stdout).toContain("\u001B[32m✓");
      expect(run.output.stdout).toContain("… 99-fixture: starting workerd");
      expect(run.output.stdout).toContain("… 2 of 2 runs ended\r\u001B[2K");
    });
  },
);
