/** What a page holds of a pair: the shape of the module `virtual:durable-lessons/pair/…`. */
import type { Exception, Pair, Symptom, Variant } from "@durable-lessons/lab";
import type { Grid, GridCount } from "./gauntlet.ts";
import type { Outcome, PairTrace } from "./run-state.ts";

/** The languages of the site. */
export type Locale = "en" | "zh-TW";

/** Where a pair stands on the site, below its base. */
export const linkToPair = (locale: Locale, lesson: string, id: string): string =>
  `${locale === "en" ? "" : `/${locale}`}/lessons/${lesson}#pair-${id}`;

/** A pair's words. */
export interface PairText {
  title: string;
  claim: string;
  why: string;
}

/** What is committed of a run of a pair. */
export interface RecordedPair {
  pair: string;
  title: string;
  claim: string;
  disturb: unknown;
  variants: Record<Variant, Outcome>;
  ok: boolean;
  trace: PairTrace;
}

/** A file of `recorded/`: the pairs of one lesson, as they were last recorded. */
export interface Recording {
  lesson: string;
  /** The day, as YYYY-MM-DD. */
  recorded: string;
  /** The version of wrangler that ran them. */
  wrangler: string;
  pairs: RecordedPair[];
}

/** A pair in the catalogue. */
export interface CatalogueEntry {
  /** As the command line takes it: `01/double-submit`. */
  name: string;
  /** The lesson's folder. */
  lesson: string;
  id: string;
  engine: Pair["engine"];
  symptom: Symptom | null;
  text: Record<Locale, PairText & { disturbed: string }>;
  /** What the two sides are expected to show, and differ in. */
  evidence: { kind: string; pitfall: unknown; fix: unknown }[];
  /** How its fix came through the gauntlet, as it was recorded. */
  gauntlet: GridCount | null;
  /** Does its lesson have a page? */
  hasPage: boolean;
}

/** A lesson in a list. */
export interface LessonEntry {
  title: string;
  link: string;
  /** How many pairs it has. */
  pairs: number;
}

/** A trial that a fix does not bear, as its pair tells it. */
export interface ExceptionEntry extends Pick<Exception, "breaks" | "trial"> {
  because: Record<Locale, string>;
  /** The pair that shows the cure: where it stands, and its title. */
  cure: { lesson: string; id: string; title: Record<Locale, string> };
}

/** A pair on a page of its own. */
export interface PairPage extends CatalogueEntry {
  wantsCrash: boolean;
  /** Highlighted source, the lines that differ marked. */
  code: Record<Variant, string>;
  expect: Record<Variant, Record<string, unknown>>;
  recorded: (RecordedPair & Pick<Recording, "recorded" | "wrangler">) | null;
  exceptions: ExceptionEntry[];
  /** Its recorded gauntlet. */
  tried: { grid: Grid; wrangler: string } | null;
}
