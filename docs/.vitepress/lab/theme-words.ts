/** The words of VitePress's theme that have no setting, in the language of the page. */
import { basename } from "node:path";
import type { MarkdownRenderer, Plugin } from "vitepress";
import { COPY_CODE, permalinkInChinese, THEME_IN_CHINESE } from "../../i18n/theme.zh-TW.ts";

const THEME = /[\\/]vitepress[\\/]dist[\\/]client[\\/]theme-default[\\/]components[\\/]\w+\.vue$/;
const SETUP = /<script (?:setup lang="ts"|lang="ts" setup)>\n/;

/** Lets the theme's components say their fixed words in the language of the page. */
export function themeWords(): Plugin {
  return {
    name: "durable-lessons:theme-words",
    enforce: "pre",
    transform(code, id) {
      return THEME.test(id) ? withChineseWords(code, basename(id)) : null;
    },
  };
}

/**
 * @param code the source of a component
 * @param file its name, such as `VPSidebar.vue`
 * @throws Error where the component has other words, or is built in another way, than this version of VitePress
 */
export function withChineseWords(code: string, file: string): string {
  const words = THEME_IN_CHINESE[file];
  if (!words) return code;
  const [english, chinese] = words;
  const said = `siteLanguage === "zh-TW" ? "${chinese}" : "${english}"`;
  const changed = code
    .replace(
      SETUP,
      (tag) =>
        `${tag}import { useData as useSite } from "vitepress";\nconst { lang: siteLanguage } = useSite();\n`,
    )
    .replace(new RegExp(`(?<=\\s)((?:aria-)?label)="${english}"`), `:$1='${said}'`)
    .replace(new RegExp(`>(\\s*)${english}(\\s*)<`), `>$1{{ ${said} }}$2<`);
  if (!changed.includes("siteLanguage }") || !changed.includes(said)) {
    throw new Error(`${file} of VitePress does not say "${english}" any more.`);
  }
  return changed;
}

/** Lets the Chinese pages say in Chinese what VitePress puts beside code and headings. */
export function chineseMarkdown(markdown: MarkdownRenderer): void {
  const render = markdown.render.bind(markdown);
  markdown.render = (text, env?: { relativePath?: string }) => {
    const html = render(text, env);
    if (!env?.relativePath?.startsWith("zh-TW/")) return html;
    return html
      .replaceAll(`<button title="${COPY_CODE[0]}"`, `<button title="${COPY_CODE[1]}"`)
      .replaceAll(
        /aria-label="Permalink to &quot;(.*?)(?: \{#[\w-]+\})?&quot;"/g,
        (_label, heading: string) => `aria-label="${permalinkInChinese(heading)}"`,
      );
  };
}
