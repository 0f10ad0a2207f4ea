import { glob, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { nameOfPair, readLessons } from "@durable-lessons/lab/runner";
import { describe, expect, test } from "vitest";
import { describeDisturbanceInChinese } from "../i18n/disturbance.zh-TW.ts";
import {
  EXCEPTIONS_IN_CHINESE,
  RULES_IN_CHINESE,
  sawInChinese,
  trialInChinese,
} from "../i18n/gauntlet.zh-TW.ts";
import { errorInChinese, statusInChinese } from "../i18n/lab.zh-TW.ts";
import { PAIRS_IN_CHINESE } from "../i18n/pairs.zh-TW.ts";
import { THEME_IN_CHINESE } from "../i18n/theme.zh-TW.ts";
import { readGauntlet } from "../.vitepress/lab/gauntlet-files.ts";
import { readRecording } from "../.vitepress/lab/pair-pages.ts";
import { withChineseWords } from "../.vitepress/lab/theme-words.ts";
import { LOST } from "../.vitepress/theme/lab-client.ts";
import { driftOf, factsOf, sectionsOf } from "./facts.ts";
import { headingsOf } from "./markdown.ts";

const docs = join(import.meta.dirname, "..");
const pagesIn = async (dir: string) => {
  const found = await Array.fromAsync(
    glob("**/*.md", {
      cwd: dir,
      exclude: (path) => /(^|\/)(node_modules|\.vitepress|zh-TW)$/.test(path),
    }),
  );
  return found.toSorted();
};
const englishPages = await pagesIn(docs);
const chinesePages = await pagesIn(join(docs, "zh-TW"));
const both = await Promise.all(
  englishPages
    .filter((page) => chinesePages.includes(page))
    .map(async (page) => ({
      page,
      en: await readFile(join(docs, page), "utf8"),
      zh: await readFile(join(docs, "zh-TW", page), "utf8"),
    })),
);

/** Files that a page shows, blocks of code that it holds itself, and components, in their order. */
const codeOf = (markdown: string) =>
  [...markdown.matchAll(/^(?:<<< (\S+)(.*)|(`{3,}\S+)|(<[A-Z]\w+ [^>]*>))$/gm)].map(
    ([, file, label, fence, component]) =>
      file ? `${file.replace(/^(\.\.\/)+/, "")}${label}` : (fence ?? component),
  );

/** Who makes a claim, in either language. */
const WHOSE: Record<string, string> = { article: "article", us: "us", 文章: "article", 我們: "us" };

/** What a row of the claims table names that no language changes: its id, whose it is, pairs, tests and versions. */
const claimRows = (markdown: string) =>
  [...markdown.matchAll(/^\| ([A-Z]\d+) \|.*$/gm)].map(([row, id]) => {
    const [, , whose = "", , ...named] = row.split("|").slice(1, -1);
    return [id, WHOSE[whose.trim()], ...named.map((cell) => cell.trim())].join(" ");
  });

/** The names of {@link WHOSE} stand in code on the English page only. */
const withoutWhose = (english: string) => english.replaceAll(/`(article|us)`/g, "$1");

const VERDICTS = [
  [/^holds$/, /^成立$/],
  [/^holds, with a condition: ./, /^有條件成立：./],
  [/^wrong: ./, /^錯誤：./],
  [/^not testable locally: ./, /^無法在本機驗證：./],
] as const;
const verdictsOf = (markdown: string, language: 0 | 1) =>
  [...markdown.matchAll(/^\| ([A-Z]\d+) \|.*$/gm)].map(([row, id]) => {
    const verdict = row.split("|")[4]?.trim() ?? "";
    return `${id} ${VERDICTS.findIndex((patterns) => patterns[language].test(verdict))}`;
  });

test("every page has its twin in the other language", () => {
  expect(chinesePages).toEqual(englishPages);
});

describe.each(both)("$page and its twin", ({ page, en, zh }) => {
  test("have the same headings", () => {
    expect(headingsOf(zh).map(({ level }) => level)).toEqual(
      headingsOf(en).map(({ level }) => level),
    );
    // The first one is the page's title, which no link needs.
    expect(headingsOf(zh).slice(page === "index.md" ? 0 : 1)).toEqual(
      headingsOf(en).slice(page === "index.md" ? 0 : 1),
    );
  });

  test("show the same code", () => {
    expect(codeOf(zh)).toEqual(codeOf(en));
  });

  test("say the same of the same claims", () => {
    expect(claimRows(zh)).toEqual(claimRows(en));
    expect(verdictsOf(zh, 1)).toEqual(verdictsOf(en, 0));
    expect(verdictsOf(en, 0).filter((verdict) => verdict.endsWith("-1"))).toEqual([]);
  });

  test("link to pages of their own language", () => {
    expect([...zh.matchAll(/\]\((\/[^)]*)\)|link: (\/\S*)/g)].map(([, a, b]) => a ?? b)).toEqual(
      [...en.matchAll(/\]\((\/[^)]*)\)|link: (\/\S*)/g)].map(([, a, b]) => `/zh-TW${a ?? b}`),
    );
  });

  test("say the same figures, names, links and sources in each section", () => {
    const [english, chinese] = [sectionsOf(en), sectionsOf(zh)];
    expect([...chinese.keys()]).toEqual([...english.keys()]);
    const drift = [...english].flatMap(([anchor, text]) =>
      driftOf(factsOf(withoutWhose(text)), factsOf(chinese.get(anchor) ?? "")).map(
        (fact) => `#${anchor}: ${fact}`,
      ),
    );
    expect(drift).toEqual([]);
  });

  test("the Chinese is Chinese", () => {
    expect(zh).toMatch(/\p{Script=Han}/u);
  });
});

describe("the interface in Chinese", async () => {
  const isChinese = (text: string) => /\p{Script=Han}/u.test(text);
  const lessons = await readLessons(join(docs, "..", "apps"));

  test("names every status: of recorded runs, of runs that are under way, and of the lab", async () => {
    const recordings = await Promise.all(lessons.map(({ id }) => readRecording(docs, id)));
    const recorded = recordings.flatMap((recording) =>
      (recording?.pairs ?? []).flatMap(({ variants }) =>
        [variants.pitfall, variants.fix].map(({ status }) => status),
      ),
    );
    const own = ["not started", "running", "at its crash point", "timed out", "failed", "blocked"];
    expect(recorded).not.toEqual([]);
    expect([...recorded, ...own].filter((status) => !isChinese(statusInChinese(status)))).toEqual(
      [],
    );
  });

  test.each([
    [LOST, "和開發伺服器的連線中斷了。"],
    ["ended with status errored, without mail.send", "沒有經過 mail.send 就結束，狀態是 errored"],
    ["TypeError: x is not a function", "TypeError: x is not a function"],
  ])("says what went wrong: %s", (english, chinese) => {
    expect(errorInChinese(english)).toBe(chinese);
  });

  const theme = join(
    createRequire(import.meta.url).resolve("vitepress/package.json"),
    "../dist/client/theme-default/components",
  );

  test.each(Object.entries(THEME_IN_CHINESE))(
    "%s of the theme has its words",
    async (file, words) => {
      const changed = withChineseWords(await readFile(join(theme, file), "utf8"), file);
      for (const word of words) expect(changed).toContain(`"${word}"`);
      expect(() => withChineseWords('<script setup lang="ts">\n</script>\n', file)).toThrow(
        words[0],
      );
    },
  );
});

describe("a planted drift", () => {
  const english = `A step waits 24 hours ("Limits", read on 2026-11-29), see \`step.sleep\` and [Limits](/limits).

- one
- two
`;
  const chinese = `步驟等 24 小時（「Limits」，2026-11-29 查閱），見 \`step.sleep\` 和[限制](/zh-TW/limits)。

- 一
- 二
`;
  const drift = (twin: string) => driftOf(factsOf(english), factsOf(twin));

  test("is none where both say the same", () => {
    expect(drift(chinese)).toEqual([]);
  });

  test.each([
    ["another figure", "24 小時", "25 小時", ["en 24 h", "zh-TW 25 h"]],
    ["another unit", "24 小時", "24 分鐘", ["en 24 h", "zh-TW 24 min"]],
    ["another date", "2026-11-29", "2026-11-30", ["en 2026-11-29", "zh-TW 2026-11-30"]],
    ["another name", "`step.sleep`", "`step.do`", ["en step.sleep", "zh-TW step.do"]],
    ["a name that is translated", "`step.sleep`", "睡眠", ["en step.sleep"]],
    ["another link", "(/zh-TW/limits)", "(/zh-TW/scale)", ["en /limits", "zh-TW /scale"]],
    ["another source", "「Limits」", "「Pricing」", ["en Limits", "zh-TW Pricing"]],
    ["an item too few", "- 二\n", "", ["en 2 items", "zh-TW 1 items"]],
  ])("is found: %s", (_what, right, wrong, found) => {
    expect(drift(chinese.replace(right, wrong))).toEqual(found);
  });
});

describe("pairs", async () => {
  const lessons = await readLessons(join(docs, "..", "apps"));
  const pairs = lessons.flatMap((lesson) =>
    lesson.pairs.map((pair) => ({ name: nameOfPair(lesson, pair), pair })),
  );

  test("have their words in Chinese, and no words are left over", () => {
    expect(Object.keys(PAIRS_IN_CHINESE).toSorted()).toEqual(
      pairs.map(({ name }) => name).toSorted(),
    );
  });

  test.each(pairs)("$name says the same in Chinese", ({ name, pair }) => {
    const { title = "", claim = "", why = "" } = PAIRS_IN_CHINESE[name] ?? {};
    for (const text of [title, claim, why]) expect(text).toMatch(/\p{Script=Han}/u);
    expect(claim).toMatch(/。$/);
    for (const [english, chinese] of [
      [pair.claim, claim],
      [pair.why, why],
    ] as const) {
      // Names of the platform are not translated, and what English has in digits Chinese has too.
      const names = english.match(
        /\b(?:step\.\w+|\w+\([^)]*\)|[a-z]+[A-Z]\w*|[A-Z]\w*Error|INSERT|SELECT|\d+)/g,
      );
      for (const word of names ?? []) expect(chinese).toContain(word);
    }
  });

  test.each(pairs)("$name is disturbed in Chinese too", ({ pair }) => {
    const said = describeDisturbanceInChinese(pair);
    expect(said).toMatch(/\p{Script=Han}/u);
    expect(said).not.toContain("undefined");
    const [place = ""] =
      pair.disturb && "crash" in pair.disturb ? Object.values(pair.disturb.crash) : [];
    expect(said).toContain(place);
  });

  test.each(pairs)("$name has its exceptions in Chinese", ({ pair: { exceptions = [] } }) => {
    for (const { because } of exceptions) {
      expect(EXCEPTIONS_IN_CHINESE[because], because).toMatch(/\p{Script=Han}.*。$/u);
    }
  });

  test.each(lessons)("the gauntlet of $id can be read in Chinese", async ({ id }) => {
    const recording = await readGauntlet(docs, id);
    const trials = (recording?.pairs ?? []).flatMap(({ grid }) => Object.values(grid).flat());
    const isChinese = (text: string) => /\p{Script=Han}/u.test(text);
    // Kinds of effects and codes are the same in every language.
    const isName = (text: string) => /^[a-z]+\.[a-z]+$|^\d+(, \d+)*$/.test(text);
    expect(
      trials.map(({ trial }) => trial).filter((name) => !isChinese(trialInChinese(name))),
    ).toEqual([]);
    const seen = trials.flatMap(({ broken }) => broken);
    expect(
      seen.filter(
        ({ saw }) =>
          !isChinese(sawInChinese(saw.replace(/^(.*), and \d+ more$/, "$1"))) && !isName(saw),
      ),
    ).toEqual([]);
    for (const { rule } of seen) expect(RULES_IN_CHINESE[rule]).toMatch(/\p{Script=Han}/u);
  });
});
