import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { readLessons } from "@durable-lessons/lab/runner";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..");

/** The claims that the lessons answer to: as many ids of each letter. */
const CLAIMS = { A: 22, B: 39, C: 17, D: 14, E: 10, F: 8 };

/** Who says so: articles on the subject, or this tutorial. */
const WHOSE = /^(article|us)$/;

const VERDICT = /^(holds|holds, with a condition: .+|wrong: .+|not testable locally: .+)$/;

interface Row {
  id: string;
  claim: string;
  whose: string;
  verdict: string;
  shownBy: string;
  measuredWith: string;
}

const isDocumented = ({ verdict }: Row) => verdict.startsWith("not testable");

const text = await readFile(join(root, "docs", "claims.md"), "utf8");
const rows: Row[] = text
  .split("\n")
  .filter((line) => /^\| [A-Z]\d+ \|/.test(line))
  .map((line) => {
    const [id = "", claim = "", whose = "", verdict = "", shownBy = "", measuredWith = ""] = line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim());
    return { id, claim, whose, verdict, shownBy, measuredWith };
  });
const ids = rows.map(({ id }) => id);

const lessons = await readLessons(join(root, "apps"));
const pairs = lessons.flatMap(({ id, pairs: of }) =>
  of.map((pair) => ({ name: `${id.slice(0, 2)}/${pair.id}`, claims: pair.claims })),
);

const testFiles = await Array.fromAsync(
  glob("{apps,packages}/*/test/**/*.test.ts", {
    cwd: root,
    exclude: (path) => path.includes("node_modules"),
  }),
);
/** Ids at the start of the names of tests and suites (`A1: …`), by file. */
const tested = new Map(
  await Promise.all(
    testFiles.map(async (path) => {
      const source = await readFile(join(root, path), "utf8");
      return [path, [...source.matchAll(/["'`]([A-Z]\d+): /g)].map(([, id]) => id)] as const;
    }),
  ),
);

describe("docs/claims.md", () => {
  test("has every claim once, in order", () => {
    const expected = Object.entries(CLAIMS).flatMap(([letter, count]) =>
      Array.from({ length: count }, (_, index) => `${letter}${index + 1}`),
    );
    expect(ids).toEqual(expected);
  });

  test.each(rows)("$id says whose claim it is", ({ whose }) => {
    expect(whose).toMatch(WHOSE);
  });

  test.each(rows.filter(isDocumented))(
    "$id names a page of the documentation and a date",
    (row) => {
      expect(row.verdict).toMatch(/"[^"]+", \d{4}-\d\d-\d\d/);
    },
  );

  test.each(rows.filter((row) => !isDocumented(row)))(
    "$id has a verdict, a version and something that shows it",
    (row) => {
      expect(row.claim).not.toBe("");
      expect(row.verdict).toMatch(VERDICT);
      expect(row.measuredWith).toMatch(/\d+\.\d+\.\d+/);
      const shown = [...row.shownBy.matchAll(/(pair|test) `([^`]+)`/g)];
      expect(shown.length).toBeGreaterThan(0);
      for (const [, kind, name = ""] of shown) {
        const named =
          kind === "pair" ? pairs.find((pair) => pair.name === name)?.claims : tested.get(name);
        expect(named, `${kind} ${name}`).toContain(row.id);
      }
    },
  );
});

test("every claim that a pair names is in the table, and the table names the pair", () => {
  for (const { name, claims } of pairs) {
    for (const id of claims) {
      expect(rows.find((row) => row.id === id)?.shownBy, `${id} of ${name}`).toContain(
        `\`${name}\``,
      );
    }
  }
});

test("every claim that a test names is in the table", () => {
  for (const [path, named] of tested) {
    for (const id of named) expect(ids, path).toContain(id);
  }
});
