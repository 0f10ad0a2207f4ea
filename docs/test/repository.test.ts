import { glob, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..");

/** The repository's own text files that match, with their content. Not the lockfile. */
const filesLike = async (patterns: string | string[]) => {
  const paths = await Array.fromAsync(
    glob(patterns, {
      cwd: root,
      exclude: (path) => /(^|\/)(node_modules|dist|cache|\.[^/]+|pnpm-lock\.yaml)$/.test(path),
    }),
  );
  return Promise.all(
    paths.map(async (path) => ({ path, text: await readFile(join(root, path), "utf8") })),
  );
};

test("no file is longer than 1,500 lines", async () => {
  const files = await filesLike("**/*.{ts,vue,css,html,sql,md,json,jsonc,yaml,svg}");
  expect(files.length).toBeGreaterThan(0);
  const long = files.filter(({ text }) => text.split("\n").length > 1500);
  expect(long.map(({ path }) => path)).toEqual([]);
});

describe("what runs here is named by its hash", () => {
  const read = (path: string) => readFile(join(root, path), "utf8");

  test("every action by its commit, and no checkout leaves its token behind", async () => {
    const files = await Array.fromAsync(glob(".github/**/*.{yml,yaml}", { cwd: root }));
    const workflows = (await Promise.all(files.map(read))).join("\n");
    const uses = [...workflows.matchAll(/uses: (.*)/g)].map(([, action = ""]) => action);
    expect(uses.length).toBeGreaterThan(0);
    for (const action of uses) expect(action).toMatch(/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    const checkouts = workflows
      .split(/^ +- /m)
      .filter((step) => step.includes("actions/checkout@"));
    expect(checkouts.length).toBeGreaterThan(0);
    for (const step of checkouts) expect(step).toMatch(/^ +persist-credentials: false$/m);
    expect(workflows.match(/^permissions:\n {2}contents: read\n$/gm)).toHaveLength(files.length);
  });

  test("every package of the lockfile, and none from elsewhere than a registry", async () => {
    const lockfile = await read("pnpm-lock.yaml");
    const [, packages = ""] = /\npackages:\n\n([^]*?)\nsnapshots:\n/.exec(lockfile) ?? [];
    const entries = packages.split(/\n(?= {2}\S)/);
    expect(entries.length).toBeGreaterThan(200);
    const without = entries.filter(
      (entry) => !/^ {4}resolution: \{integrity: sha512-[\w+/]{86}==\}$/m.test(entry),
    );
    expect(without).toEqual([]);
  });

  test("pnpm, in the one version that the texts name", async () => {
    const { packageManager } = JSON.parse(await read("package.json"));
    expect(packageManager).toMatch(/^pnpm@\d+\.\d+\.\d+\+sha512\.[0-9a-f]{128}$/);
    const [pnpm = ""] = packageManager.split("+");
    const files = await filesLike(["**/*.{md,ts,js,json,yaml}", ".ci/run"]);
    const named = files.flatMap(({ text }) => text.match(/\bpnpm@12\.\d+\.\d+/g) ?? []);
    expect(named.length).toBeGreaterThan(10);
    expect(new Set(named)).toEqual(new Set([pnpm]));
  });

  test("and no package runs a script at its install, or was published with less proof than before", async () => {
    const settings = await read("pnpm-workspace.yaml");
    const [, builds = ""] = /^allowBuilds:\n((?: {2}.*\n)+)/m.exec(settings) ?? [];
    expect(builds.match(/: (?!false$).*$/gm)).toBeNull();
    expect(settings).toMatch(/^trustPolicy: no-downgrade$/m);
    expect(await read(".ci/run")).toContain("pnpm install --frozen-lockfile --no-trust-lockfile");
  });
});

/**
 * `wrangler types` would generate the runtime's types from the workerd that it brings, for the date of the
 * configuration. Here they come from `@cloudflare/workers-types`, so their date has to be held to both.
 */
describe("the date of @cloudflare/workers-types", () => {
  const requireFromLab = createRequire(join(root, "packages/lab/package.json"));
  /** The date in a version of workerd or of its types: `1.20261102.1` is of 2026-11-02. */
  const dateOf = (version = "") => version.replace(/^\d+\.(\d{4})(\d\d)(\d\d)\.\d+$/, "$1-$2-$3");
  const types = dateOf(requireFromLab("@cloudflare/workers-types/package.json").version);
  const workerd = dateOf(requireFromLab("wrangler/package.json").dependencies.workerd);

  test("is at most a day after that of wrangler's workerd", () => {
    // Not every day's types are published, and those that wrangler accepts are as old as its workerd or newer.
    const days = (Date.parse(types) - Date.parse(workerd)) / 86_400_000;
    expect(days, `types of ${types}, workerd of ${workerd}`).toBeLessThanOrEqual(1);
  });

  test("is not before the compatibility_date of any Worker", async () => {
    const files = await filesLike("{apps,packages}/**/*.{jsonc,ts}");
    const dates = files.flatMap(({ path, text }) =>
      [...text.matchAll(/compatibility_date"?: "([^"]+)"/g)].map(([, date = ""]) => ({
        path,
        date,
      })),
    );
    expect(dates.length).toBeGreaterThan(0);
    expect(
      dates.filter(({ date }) => !(date <= types)),
      `newer than the types, ${types}`,
    ).toEqual([]);
  });
});
