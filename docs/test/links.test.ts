import { glob, readFile, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { headingsOf } from "./markdown.ts";

const root = join(import.meta.dirname, "..", "..");
const files = await Array.fromAsync(
  glob(["*.md", "{apps,packages}/*/*.md", "docs/**/*.md"], {
    cwd: root,
    exclude: (path) => /(^|\/)(node_modules|dist|cache)$/.test(path),
  }),
);

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

test.each(files)("every link and every code file of %s is there", async (file) => {
  const markdown = await readFile(join(root, file), "utf8");
  const links = [...markdown.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  const snippets = [...markdown.matchAll(/^<<< (\S+?)(?:[#{[].*)?$/gm)].map(
    ([, path = ""]) => path,
  );
  for (const target of [...links, ...snippets]) {
    if (/^(https?:|mailto:)/.test(target)) continue;
    const [path = "", anchor] = target.split("#");
    const base = path.startsWith("/") ? join(root, "docs", path) : join(root, dirname(file), path);
    const found = path === "" ? join(root, file) : await firstThatExists([base, `${base}.md`]);
    expect(found, `${target} in ${file}`).toBeDefined();
    const anchors = found?.endsWith(".md") ? anchorsOf(await readFile(found, "utf8")) : [];
    expect(anchor ? anchors : [anchor], `${target} in ${file}`).toContain(anchor);
  }
  for (const [, region = ""] of markdown.matchAll(/^<<< \S+?#([\w-]+)/gm)) {
    const [, path = ""] = new RegExp(`^<<< (\\S+?)#${region}`, "m").exec(markdown) ?? [];
    const source = await readFile(join(root, dirname(file), path), "utf8");
    expect(source, `region ${region} of ${relative(root, path)}`).toContain(`#region ${region}`);
  }
});

/** Where a link into a page can lead: to its headings, and to what is named in it. */
function anchorsOf(markdown: string): string[] {
  const named = [...markdown.matchAll(/<a id="([^"]+)">/g)].map(([, id = ""]) => id);
  return [...headingsOf(markdown).map((heading) => heading.anchor), ...named];
}

async function firstThatExists(paths: string[]): Promise<string | undefined> {
  for (const path of paths) if (await exists(path)) return path;
  return undefined;
}
