/** Headings of a page as GitHub and VitePress turn them into anchors; `{#id}` at the end of a heading is its anchor. */
export const headingsOf = (markdown: string): { level: number; anchor: string }[] =>
  [...withoutFences(markdown).matchAll(/^(#+) (.+)$/gm)].map(([, marks = "", heading = ""]) => {
    return { level: marks.length, anchor: anchorOf(heading) };
  });

/** The anchor of a heading: its own, or what GitHub and VitePress make of its words. */
export const anchorOf = (heading: string): string =>
  /\{#([^}]+)\}\s*$/.exec(heading)?.[1] ?? slugOf(heading);

const slugOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-")
    .replaceAll(/-+/g, "-");

/** A page without its fenced code: a comment of a shell is no heading. */
export const withoutFences = (markdown: string) =>
  markdown.replaceAll(/^(`{3,})[^\n]*\n[\s\S]*?^\1$/gm, "");
