import { readdirSync } from "node:fs";
import { join, sep } from "node:path";
import { RULES } from "@durable-lessons/outside-world/rules";
import { createMarkdownRenderer, type MarkdownRenderer, type Plugin } from "vitepress";
import { RULES_IN_CHINESE } from "../../i18n/gauntlet.zh-TW.ts";
import { CODE_THEME } from "./code-theme.ts";
import { catalogue, lessonLists, pairPage, type Sources } from "./pair-pages.ts";

const CATALOGUE = "virtual:durable-lessons/catalogue";
const LESSONS = "virtual:durable-lessons/lessons";
const PAIR = "virtual:durable-lessons/pair/";
const RULE_TEXTS = "virtual:durable-lessons/rules";
const NAMES = new Set([CATALOGUE, LESSONS, RULE_TEXTS]);

/**
 * Puts pairs into pages: a module for each of them, one for the catalogue, and one for the rules of the gauntlet, read from the lessons' sources, so that
 * the site follows them; and {@link withPairs} for every Markdown page.
 */
export function pagesPlugin(sources: Sources): Plugin {
  let renderer: Promise<MarkdownRenderer> | undefined;
  const highlight = async (code: string, lines: number[]) => {
    renderer ??= createMarkdownRenderer(sources.docsDir, { theme: CODE_THEME });
    const marked = lines.length > 0 ? `{${lines.join(",")}}` : "";
    return (await renderer).render(`\`\`\`\`ts${marked}\n${code}\`\`\`\``);
  };
  const ids = new Set<string>();
  return {
    name: "durable-lessons:pages",
    enforce: "pre",
    resolveId(id) {
      return NAMES.has(id) || id.startsWith(PAIR) ? `\0${id}` : null;
    },
    async load(id) {
      if (!id.startsWith("\0virtual:durable-lessons/")) return null;
      ids.add(id);
      if (id === `\0${CATALOGUE}`) return asModule(await catalogue(sources));
      if (id === `\0${LESSONS}`) return asModule(await lessonLists(sources));
      if (id === `\0${RULE_TEXTS}`) return asModule({ en: RULES, "zh-TW": RULES_IN_CHINESE });
      const [lesson = "", pair = ""] = id.slice(1 + PAIR.length).split("/");
      return asModule(await pairPage(sources, lesson, pair, highlight));
    },
    transform(code, id) {
      return id.endsWith(".md") ? withPairs(code) : null;
    },
    configureServer(server) {
      // They lie outside of the site's root, and the watcher takes no patterns.
      for (const app of readdirSync(sources.appsDir)) {
        server.watcher.add(join(sources.appsDir, app, "src"));
      }
    },
    handleHotUpdate({ file, server }) {
      const isOurs =
        file.includes(`${sep}pitfalls${sep}`) || file.startsWith(join(sources.docsDir, "recorded"));
      if (!isOurs) return;
      for (const id of ids) {
        const module = server.moduleGraph.getModuleById(id);
        if (module) server.moduleGraph.invalidateModule(module);
      }
      server.ws.send({ type: "full-reload" });
      return [];
    },
  };
}

const asModule = (value: unknown) => `export default ${JSON.stringify(value)};\n`;

const CODE_GROUP = /^::: code-group\n((?:<<< .+\n)+):::$/gm;
const SNIPPET = /^<<< \S*apps\/([a-z0-9-]+)\/src\/pitfalls\/([a-z0-9-]+)\/(pitfall|fix)\.ts\b.*$/;
const TAG = /^<Pair name="([a-z0-9-]+)\/([a-z0-9-]+)"( titled)? \/>$/gm;

/**
 * Turns the code groups of a Markdown page that show a pitfall and its fix into the pair itself, which can be run. The
 * Markdown stays what it is for those who read it elsewhere. A tag puts a pair where there is no code:
 * `<Pair name="01-onboarding-workflow/double-submit" />`.
 */
export function withPairs(markdown: string): string {
  const imports = new Map<string, string>();
  const view = (lesson: string, pair: string, attributes = "") => {
    const source = `${PAIR}${lesson}/${pair}`;
    const name = imports.get(source) ?? `pair${imports.size}`;
    imports.set(source, name);
    return `<PairView :pair="${name}"${attributes} />`;
  };
  const page = markdown
    .replaceAll(CODE_GROUP, (group, body: string) => {
      const snippets = body.trim().split("\n");
      const shown = snippets.map((line) => SNIPPET.exec(line)).filter((match) => match !== null);
      const [pitfall, fix] = ["pitfall", "fix"].map((side) => shown.find((of) => of[3] === side));
      if (!pitfall || !fix || pitfall[2] !== fix[2]) return group;
      const [, lesson = "", pair = ""] = pitfall;
      const others = snippets.filter((line) => !shown.some(([text]) => text === line));
      const rest = others.length > 0 ? `\n\n::: code-group\n${others.join("\n")}\n:::` : "";
      return `${view(lesson, pair)}${rest}`;
    })
    .replaceAll(TAG, (_tag, lesson: string, pair: string, titled = "") =>
      view(lesson, pair, titled),
    );
  if (imports.size === 0) return markdown;
  const lines = [...imports].map(([source, name]) => `import ${name} from "${source}";`);
  return `${page}\n\n<script setup>\n${lines.join("\n")}\n</script>\n`;
}
