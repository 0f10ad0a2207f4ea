import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DefaultTheme } from "vitepress";

/** Reference pages that come first, in this order; others follow by name. */
const FIRST = ["pairs", "glossary", "choosing", "limits", "deploy", "claims"];

/**
 * The sidebar of a language: every page of `lessons/`, in the order of their numbers, and every page beside that folder,
 * each under its own first heading.
 *
 * @param dir the folder of the language's pages
 * @param prefix what its links begin with: empty, or `/zh-TW`
 */
export function sidebarOf(
  dir: string,
  prefix: string,
  titles: { lessons: string; reference: string },
): DefaultTheme.SidebarItem[] {
  const pages = pagesIn(dir).filter((page) => page !== "index");
  const reference = [
    ...FIRST.filter((page) => pages.includes(page)),
    ...pages.filter((page) => !FIRST.includes(page)),
  ];
  const item = (page: string) => ({
    text: titleOf(join(dir, `${page}.md`)),
    link: `${prefix}/${page}`,
  });
  return [
    { text: titles.lessons, items: lessonsOf(dir).map((id) => item(`lessons/${id}`)) },
    { text: titles.reference, items: reference.map(item) },
  ];
}

/** The ids of the lessons that have a page in this folder, in order. */
export const lessonsOf = (dir: string): string[] => pagesIn(join(dir, "lessons"));

function pagesIn(dir: string): string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((file) => file.endsWith(".md"))
    .toSorted()
    .map((file) => file.slice(0, -".md".length));
}

/** The first heading of a page. */
export function titleOf(file: string): string {
  const [, title = file] = /^# (.+)$/m.exec(readFileSync(file, "utf8")) ?? [];
  return title;
}
