/** What a text says that no translation may change, so that a page and its twin can be compared. */
import { anchorOf, withoutFences } from "./markdown.ts";

/** The facts of one section, each list in order and without repetition. */
export interface Facts {
  /** Figures with their units, and dates: `24 h`, `1024`, `2026-11-29`. */
  figures: string[];
  /** Names in code: what stands between backticks. */
  names: string[];
  /** Where its links lead. */
  links: string[];
  /** Pages that it gives as its sources. */
  sources: string[];
  /** How many items its lists have, and how many rows its tables: `3 items`. */
  shape: string[];
}

/**
 * The sections of a page by the anchor of their headings; what stands before the first one is `top`. Fenced code and
 * diagrams are no part of them.
 */
export function sectionsOf(markdown: string): Map<string, string> {
  const sections = new Map<string, string>();
  let anchor = "top";
  for (const line of withoutFences(markdown).split("\n")) {
    const [, heading] = /^#{2,} (.+)$/.exec(line) ?? [];
    if (heading !== undefined) anchor = anchorOf(heading);
    sections.set(anchor, `${sections.get(anchor) ?? ""}${line.replace(/\s*\{#[^}]+\}\s*$/, "")}\n`);
  }
  return sections;
}

/** Takes the facts out of a section. */
export function factsOf(section: string): Facts {
  const links = [
    ...section.matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)|\]\[([^\]]+)\]|^<<< (\S+)/gm),
  ].map(([, target, defined, label, file]) => target ?? defined ?? label ?? file ?? "");
  const prose = section
    .replaceAll(/^<<< .*$|^:::.*$|^\[[^\]]+\]: .*$/gm, "")
    .replaceAll(/\]\([^)\s]*\)|\]\[[^\]]*\]/g, "]")
    .replaceAll(/\s+/g, " ");
  return {
    figures: once(figuresOf(prose.replaceAll(/`[^`]+`/g, ""))),
    names: once([...prose.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => withoutWords(name))),
    links: once(links.map((link) => link.replace(/^(\.\.\/)+/, "").replace(/^\/zh-TW(?=\/)/, ""))),
    sources: once(
      [...prose.matchAll(/["「]([A-Z][\w .,:'-]*)["」](?=[^"「]{0,60}?20\d\d-\d\d-\d\d)/g)].map(
        ([, source = ""]) => source,
      ),
    ),
    shape: [
      `${section.match(/^ *(?:[-*]|\d+\.) /gm)?.length ?? 0} items`,
      `${section.match(/^\|/gm)?.length ?? 0} rows`,
    ],
  };
}

const once = (texts: string[]) => [...new Set(texts)].toSorted();

/** What a placeholder is called differs from language to language: `ada:<token>`. */
const withoutWords = (name: string) => name.replaceAll(/<[^>]+>/g, "<>");

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

const DATE = /\b20\d\d-\d\d(?:-\d\d)?\b/g;

/** A unit's name in either language. */
const UNITS: Record<string, RegExp> = {
  ms: /^(?:ms|milliseconds?|毫秒)/,
  MiB: /^MiB/,
  MB: /^MB/,
  GB: /^GB/,
  KB: /^(?:KB|KiB)/,
  "%": /^[%％]/,
  s: /^(?:s\b|seconds?\b|秒)/,
  min: /^(?:minutes?\b|分鐘)/,
  h: /^(?:hours?\b|(?:個)?小時)/,
  d: /^(?:days?\b|天)/,
  bytes: /^(?:bytes?\b|位元組)/,
  characters: /^(?:characters?\b|(?:個)?字元)/,
};

/** Every figure that is written in digits, with the unit behind it. */
function figuresOf(prose: string): string[] {
  const text = prose
    .replaceAll(
      /(\d{1,2}) ([A-Z][a-z]+) (20\d\d)/g,
      (whole, day: string, name: string, year: string) =>
        dateOf(whole, year, MONTHS.indexOf(name) + 1, day),
    )
    .replaceAll(
      /(20\d\d) 年 (\d{1,2}) 月 (\d{1,2}) 日/g,
      (whole, year: string, month: string, day: string) => dateOf(whole, year, Number(month), day),
    )
    .replaceAll(/([A-Z][a-z]+) (20\d\d)/g, (whole, name: string, year: string) =>
      dateOf(whole, year, MONTHS.indexOf(name) + 1),
    )
    .replaceAll(/(20\d\d) 年 (\d{1,2}) 月/g, (whole, year: string, month: string) =>
      dateOf(whole, year, Number(month)),
    )
    .replaceAll(/(\d+(?:\.\d+)?) million/g, (_, millions: string) => String(Number(millions) * 1e6))
    .replaceAll(/(?<=\d),(?=\d{3}\b)/g, "");
  const dates = text.match(DATE) ?? [];
  const figures = text
    .replaceAll(DATE, "")
    .matchAll(/(?<![\w.#-])(\d+(?:\.\d+)*)(?= ?(.{0,12}))/g)
    .map(([, figure = "", behind = ""]) => {
      const unit = Object.entries(UNITS).find(([, pattern]) => pattern.test(behind));
      return unit ? `${figure} ${unit[0]}` : figure;
    });
  return [...dates, ...figures];
}

const dateOf = (whole: string, year: string, month: number, day?: string) =>
  month === 0
    ? whole
    : [year, String(month).padStart(2, "0"), ...(day ? [day.padStart(2, "0")] : [])].join("-");

/**
 * What two texts do not both say: each fact that only one of them has, with the sign of that side. A figure may be without
 * its unit on one side: "3 days on Free, 30 on Paid".
 */
export function driftOf(english: Facts, chinese: Facts): string[] {
  const only = (of: Facts, other: Facts, sign: string) =>
    [
      ...of.figures.filter((figure) => !hasFigure(other.figures, figure)),
      ...(["names", "links", "sources", "shape"] as const).flatMap((kind) =>
        of[kind].filter((fact) => !other[kind].includes(fact)),
      ),
    ].map((fact) => `${sign} ${fact}`);
  return [...only(english, chinese, "en"), ...only(chinese, english, "zh-TW")];
}

function hasFigure(figures: string[], figure: string): boolean {
  const [number, unit] = figure.split(" ");
  return figures.some((one) => {
    const [otherNumber, otherUnit] = one.split(" ");
    return number === otherNumber && (unit === otherUnit || !unit || !otherUnit);
  });
}
