import type { MarkdownEnv } from "vitepress";

/** As much of markdown-it as is needed here. */
interface Renderer {
  set(options: { highlight: null }): unknown;
  render(source: string, env: MarkdownEnv): string;
}

/**
 * Renders a page for the search index, which drops every tag. Colours in its code would take half of the time in which the
 * site starts (measured locally).
 *
 * @param md the renderer of the index; the pages have another one
 */
export function withoutColours(source: string, env: MarkdownEnv, md: Renderer): string {
  md.set({ highlight: null });
  const html = md.render(source, env);
  return env.frontmatter?.["search"] === false ? "" : html;
}
