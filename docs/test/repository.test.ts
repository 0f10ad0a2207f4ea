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
