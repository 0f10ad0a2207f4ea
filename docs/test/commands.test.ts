/** Commands in the texts can be pasted as they stand. */
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const pages = await Array.fromAsync(
  glob(["README.md", "{apps,packages}/*/README.md", "docs/**/*.md"], {
    cwd: root,
    exclude: (path) => /(^|\/)(node_modules|dist|cache)$/.test(path),
  }),
);

/** The lines of a page's shell blocks, without what is quoted and without comments. */
const commandsOf = (markdown: string): string[] =>
  [...markdown.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = ""]) =>
    block
      .split("\n")
      .map((line) => line.replaceAll(/'[^']*'|"[^"]*"/g, "''").replace(/(^|\s)#.*$/, "")),
  );

test.each(pages)(
  "no command of %s has a gap that a shell takes for a redirection",
  async (page) => {
    const commands = commandsOf(await readFile(join(root, page), "utf8"));
    expect(commands.filter((command) => /<[\w -]+>/.test(command))).toEqual([]);
  },
);

const whatToTry = await Array.fromAsync(glob("apps/*/src/what-to-try.ts", { cwd: root }));

test.each(whatToTry)("nor has what %s prints", async (file) => {
  expect(await readFile(join(root, file), "utf8")).not.toMatch(/curl .*<[\w -]+>/);
});
