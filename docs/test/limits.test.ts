/** The page of limits: what it says of each, and that both languages say the same. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const docs = join(import.meta.dirname, "..");

interface Limit {
  what: string;
  free: string;
  paid: string;
  watch: string;
  page: string;
}

const textIn = (language: string) => readFile(join(docs, language, "limits.md"), "utf8");
const limitsIn = (markdown: string): Limit[] =>
  markdown
    .split("\n")
    .filter((line) => line.startsWith("| ") && !/^\| (---|What|項目) /.test(line))
    .map((line) => {
      const cells = line.slice(1, -1).split("|");
      const [what = "", free = "", paid = "", watch = "", page = ""] = cells.map((cell) =>
        cell.trim(),
      );
      return { what, free, paid, watch, page };
    });

/** What no language changes: figures, code, addresses and dates. */
const signs = (text: string) =>
  [...text.matchAll(/`[^`]+`|\[[^\]]+\]\[[\w-]+\]|\$?\d[\d.,-]*\d|\d/g)].map(String).toSorted();

const english = await textIn(".");
const chinese = await textIn("zh-TW");
const limits = limitsIn(english);

describe.each(limits)("$what", ({ free, paid, page }) => {
  test("has a value for each plan", () => {
    expect([free, paid]).not.toContain("");
  });

  test("names its pages, each with a date", () => {
    const named = page.split("; ");
    for (const one of named) expect(one).toMatch(/^\[[^\]]+\]\[[\w-]+\], 2026-\d\d-\d\d$/);
    for (const [, name = ""] of page.matchAll(/\]\[([\w-]+)\]/g)) {
      expect(english).toContain(`\n[${name}]: https://developers.cloudflare.com/`);
    }
  });
});

test("both languages have the same pages, plans and figures", () => {
  const other = limitsIn(chinese);
  expect(other).toHaveLength(limits.length);
  for (const [nth, limit] of limits.entries()) {
    const twin = other[nth];
    for (const cell of ["free", "paid", "page"] as const) {
      expect(signs((twin?.[cell] ?? "").replaceAll("，", ", ")), limit.what).toEqual(
        signs(
          limit[cell].replace("10 million", "10,000,000").replace("10 September 2026", "2026 9 10"),
        ),
      );
    }
  }
});
