/** The commands that the texts give for a deployment, held to what the configurations bind. */
import { glob, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { readLessons } from "@durable-lessons/lab/runner";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const lessons = await readLessons(join(root, "apps"));

interface WranglerConfig {
  queues: {
    producers?: { queue: string }[];
    consumers?: { queue: string; dead_letter_queue?: string }[];
  };
  d1_databases: { database_name: string }[];
  r2_buckets: { bucket_name: string }[];
  secrets?: { required?: string[] };
}
// The docs need no wrangler of their own: the lab's is the one that a lesson has.
const { unstable_readConfig: readConfig } = createRequire(
  import.meta.resolve("@durable-lessons/lab/runner"),
)("wrangler") as { unstable_readConfig(args: { config: string }): WranglerConfig };

/** What somebody has to make before a lesson can be deployed, as the ends of wrangler's commands, sorted. */
async function needsOf(dir: string): Promise<string[]> {
  const files = await Array.fromAsync(glob("wrangler*.jsonc", { cwd: dir }));
  const needs = files.flatMap((file) => {
    const { queues, d1_databases, r2_buckets, secrets } = readConfig({ config: join(dir, file) });
    const { producers = [], consumers = [] } = queues;
    const names = [
      ...producers.map(({ queue }) => queue),
      ...consumers.flatMap(({ queue, dead_letter_queue = queue }) => [queue, dead_letter_queue]),
    ];
    // Where a lesson has several Workers, a secret is one Worker's.
    const of = files.length > 1 ? ` -c ${file}` : "";
    return [
      ...names.map((name) => `queues create ${name}`),
      ...d1_databases.map(({ database_name }) => `d1 create ${database_name}`),
      ...r2_buckets.map(({ bucket_name }) => `r2 bucket create ${bucket_name}`),
      ...(secrets?.required ?? []).map((name) => `secret put ${name}${of}`),
    ];
  });
  return [...new Set(needs)].toSorted();
}

/** What the commands of a text make. */
const madeBy = (text: string): string[] =>
  [
    ...text.matchAll(
      /wrangler ((?:queues create|d1 create|r2 bucket create) \S+|secret put [A-Z_]+(?: -c \S+)?)/g,
    ),
  ]
    .map(([, made = ""]) => made)
    .toSorted();

/** The section of a page with this anchor, in either language. */
function sectionOf(page: string, anchor: string, heading: string): string {
  const start = page.search(new RegExp(`^## (${heading}$|.*\\{#${anchor}\\}$)`, "m"));
  expect(start, heading).toBeGreaterThan(-1);
  const [section = ""] = page.slice(start + 3).split(/^## /m);
  return section;
}

const LANGUAGES = ["docs", "docs/zh-TW"];

/** Tables that the lessons' own code leaves empty, or that hold goods alone. */
const OF_PAIRS = new Set([
  "02/products",
  "02/sales",
  "03/mails_done",
  "04/finished_orders",
  "05/keyed_sales",
  "05/unkeyed_sales",
]);

describe.each(lessons)("$id", ({ id, dir }) => {
  test.each(LANGUAGES)("is deployed by the commands at the end of %s", async (language) => {
    const page = await readFile(join(root, language, "lessons", `${id}.md`), "utf8");
    const section = sectionOf(page, "deploying-it", "Deploying it");
    const needs = await needsOf(dir);
    expect(madeBy(section)).toEqual(needs);
    const lines = section.split("\n");
    const at = (beginning: string) => lines.findIndex((line) => line.startsWith(beginning));
    const deploy = at("pnpm run deploy");
    expect(at(`cd apps/${id}`)).toBeGreaterThan(-1);
    expect(at("pnpm exec wrangler login")).toBeGreaterThan(-1);
    // What is missing at a deploy is missed at once: everything else comes first.
    for (const line of lines.filter((candidate) => /wrangler (?!login)/.test(candidate))) {
      expect(lines.indexOf(line), line).toBeLessThan(deploy);
    }
  });

  test("its README gives the same commands, or says where they are", async () => {
    const readme = await readFile(join(dir, "README.md"), "utf8");
    const saysWhere = readme.includes(`docs/lessons/${id}.md#deploying-it`);
    expect(madeBy(readme)).toEqual(saysWhere ? [] : await needsOf(dir));
  });
});

describe.each(LANGUAGES)("%s/deploy.md", async (language) => {
  const page = await readFile(join(root, language, "deploy.md"), "utf8");

  test("shows all of one lesson", async () => {
    const section = sectionOf(page, "before-the-first-time", "Before the first time");
    const [, id] = /^cd apps\/(\S+)/m.exec(section) ?? [];
    const lesson = lessons.find((candidate) => candidate.id === id);
    const needs = await needsOf(lesson?.dir ?? "");
    expect(madeBy(section).filter((made) => made !== "secret put NAME")).toEqual(needs);
  });

  test("says of every table what is kept in it", async () => {
    const section = sectionOf(
      page,
      "what-is-kept-and-for-how-long",
      "What is kept, and for how long",
    );
    const rows = section.split("\n").filter((line) => line.startsWith("| "));
    const tablesIn = async (pattern: string, cwd: string) => {
      const files = await Array.fromAsync(glob(pattern, { cwd }));
      const texts = await Promise.all(files.map((file) => readFile(join(cwd, file), "utf8")));
      return texts.flatMap((text) => [...text.matchAll(/CREATE TABLE (\w+)/g)].map(([, t]) => t));
    };
    const named = (lesson: string) =>
      rows.filter((row) => row.startsWith(`| ${lesson} |`)).flatMap((row) => row.match(/`\w+`/g));
    let count = 0;
    for (const { id, dir } of lessons) {
      // What only the pairs use stays empty in a deployment.
      const used = (await tablesIn("migrations/*.sql", dir)).filter(
        (table) => !OF_PAIRS.has(`${id.slice(0, 2)}/${table}`),
      );
      expect(named(String(Number(id.slice(0, 2)))), id).toEqual(
        expect.arrayContaining(used.map((table) => `\`${table}\``)),
      );
      count += used.length;
    }
    expect(count).toBeGreaterThan(10);
    const world = await tablesIn("*.sql", join(root, "packages/outside-world/migrations"));
    const all = rows.find((row) => row.includes("`observations`"));
    for (const table of world) expect(all).toContain(`\`${table}\``);
  });

  test("names every secret, and every lesson's own commands", async () => {
    for (const { id, dir } of lessons) {
      expect(page).toContain(`lessons/${id}#deploying-it`);
      const secrets = (await needsOf(dir)).flatMap(
        (need) => /^secret put (\w+)/.exec(need)?.[1] ?? [],
      );
      for (const secret of secrets) expect(page).toContain(`\`${secret}\``);
    }
  });
});
