import { execFile } from "node:child_process";
import { glob, mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { readLessons } from "@durable-lessons/lab/runner";
import { soak } from "@durable-lessons/test-kit/soak";
import { describe, expect, test } from "vitest";

const apps = join(import.meta.dirname, "../../apps");
const wrangler = join(
  createRequire(import.meta.resolve("@durable-lessons/lab/runner")).resolve(
    "wrangler/package.json",
  ),
  "../bin/wrangler.js",
);
const lessons = await readLessons(apps);
const configs = await Array.fromAsync(glob("*/wrangler*.jsonc", { cwd: apps }));

/** Bundles a Worker as a deploy does, without leaving this machine. */
async function bundleOf(config: string) {
  const outdir = await mkdtemp(join(tmpdir(), "deploy-"));
  try {
    const args = ["deploy", "--dry-run", "--metafile", "--outdir", outdir, "-c", basename(config)];
    await promisify(execFile)(process.execPath, [wrangler, ...args], {
      cwd: join(apps, dirname(config)),
      env: { ...process.env, WRANGLER_SEND_METRICS: "false" },
    });
    const read = async (pattern: string) => {
      const [file = "none"] = await Array.fromAsync(glob(pattern, { cwd: outdir }));
      return readFile(join(outdir, file), "utf8");
    };
    const { inputs } = JSON.parse(await read("bundle-meta.json")) as { inputs: object };
    return { code: await read("*.js"), inputs: Object.keys(inputs) };
  } finally {
    await rm(outdir, { recursive: true });
  }
}

describe("what is deployed of a lesson", () => {
  test("is at least one Worker each", () => {
    expect(new Set(configs.map(dirname))).toEqual(new Set(lessons.map(({ id }) => id)));
  });

  // `pnpm test` bundles one, `pnpm test:soak` all.
  const sorted = configs.toSorted();
  test.for(sorted)(
    "%s has nothing of the pairs and nothing of the lab",
    async (config, { skip }) => {
      skip(!soak(sorted, sorted.slice(0, 1)).includes(config));
      const settings = await readFile(join(apps, config), "utf8");
      const { code, inputs } = await bundleOf(config);
      expect(inputs).toContainEqual(expect.stringMatching(/(^|\/)src\/\w/));
      expect(
        inputs.filter((path) => /packages\/(lab|crash-test)\/|src\/pitfalls\//.test(path)),
      ).toEqual([]);
      for (const text of [settings, code]) {
        expect(text).not.toContain("/pitfalls");
        expect(text).not.toMatch(/PITFALLS|\bLAB\b|DEV_ONLY|dev-only/);
        for (const { id } of lessons.flatMap(({ pairs }) => pairs)) expect(text).not.toContain(id);
      }
    },
  );
});
