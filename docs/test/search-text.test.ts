import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createMarkdownRenderer } from "vitepress";
import { beforeAll, describe, expect, test } from "vitest";
import { withoutColours } from "../.vitepress/lab/search-text.ts";

const docs = join(import.meta.dirname, "..");
const newRenderer = () => createMarkdownRenderer(docs, {}, "/");
type Renderer = Awaited<ReturnType<typeof newRenderer>>;

let coloured: Renderer;
let plain: Renderer;
beforeAll(async () => {
  [coloured, plain] = await Promise.all([newRenderer(), newRenderer()]);
});

const envOf = (path: string) => ({ path: join(docs, path), relativePath: path, cleanUrls: true });

/** The words that are found: the index drops tags, and splits at everything that is no letter or number. */
const wordsOf = (html: string) =>
  html
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/&(#x[\da-f]+|\w+);/gi, " ")
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

describe("what the search index is made of", () => {
  test("has every word of a lesson, those of its code too, and no colours", async () => {
    const [path = ""] = await Array.fromAsync(glob("lessons/01-*.md", { cwd: docs }));
    const source = await readFile(join(docs, path), "utf8");
    const html = withoutColours(source, envOf(path), plain);
    expect(source).toContain("```ts");
    expect(wordsOf(html)).toEqual(wordsOf(coloured.render(source, envOf(path))));
    expect(html).not.toContain("--shiki");
  });

  test("leaves out a page that says so", () => {
    const source = "---\nsearch: false\n---\n\n# Not to be found\n";
    expect(withoutColours(source, envOf("hidden.md"), plain)).toBe("");
  });
});
