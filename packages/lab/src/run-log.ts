/**
 * How the lab's Worker tells the driver about the code of a variant, by lines on its console: also where the runtime is
 * blocked a moment later, or killed. This file knows no runtime: both sides use it.
 */

/** Starts every such line. No variant writes this by chance. */
const MARK = "\u0001lab";

/**
 * What a line tells: code of the variant is about to run; it wrote to its console; it threw (the text is a
 * {@link Thrown} as JSON); everything that was written before the text was asked for has been told.
 */
export type RunLogKind = "console" | "entered" | "flushed" | "threw";

/** One line. */
export interface RunLogEntry {
  run: string;
  kind: RunLogKind;
  text: string;
}

/** What code of a variant threw. */
export interface Thrown {
  name: string;
  message: string;
  /** V8's, with places in the bundle. */
  stack: string | null;
  /** The step whose callback it was, if it was one. */
  step: string | null;
}

/** The beginning of a line; its text follows as further arguments of the console's method. */
export const runLogPrefix = (run: string, kind: RunLogKind): string => `${MARK} ${run} ${kind}`;

/** Reads a line; null where it is none of these. */
export function readRunLog(message: string): RunLogEntry | null {
  const [mark, run, kind, ...rest] = message.split(" ");
  if (mark !== MARK || run === undefined || !isKind(kind)) return null;
  return { run, kind, text: rest.join(" ") };
}

const isKind = (kind: string | undefined): kind is RunLogKind =>
  kind === "console" || kind === "entered" || kind === "flushed" || kind === "threw";
