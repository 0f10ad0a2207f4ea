/** What the evidence table shows of a pair, live or recorded. */
import { VARIANTS, type Variant } from "@durable-lessons/lab";
import type { Outcome, PairTrace } from "./run-state.ts";

/** One kind of evidence, on both sides. */
export interface EvidenceRow {
  kind: string;
  cells: Record<Variant, EvidenceCell>;
  /** The two sides are expected to differ here: this is what the pair is about. */
  isContrast: boolean;
}

/** What one side shows. */
interface EvidenceCell {
  seen: string;
  expected: string;
  /** Null while the run goes on. */
  ok: boolean | null;
}

/**
 * @param expect what is expected of each side
 * @param trace how far the runs have come
 * @param outcomes what came of them, once both have ended
 */
export function evidenceRows(
  expect: Record<Variant, Record<string, unknown>>,
  trace: PairTrace,
  outcomes: Record<Variant, Outcome> | null,
): EvidenceRow[] {
  const expected = (variant: Variant, kind: string) =>
    kind === "status"
      ? (expect[variant]["status"] ?? "complete")
      : (expect[variant][kind] ?? absent(kind));
  const seen = (variant: Variant, kind: string) => {
    const { status, evidence } = outcomes?.[variant] ?? trace.runs[variant];
    return kind === "status" ? status : (evidence[kind] ?? absent(kind));
  };
  const kinds = new Set(
    VARIANTS.flatMap((variant) => [
      ...Object.keys(expect[variant]),
      ...Object.keys((outcomes?.[variant] ?? trace.runs[variant]).evidence),
    ]),
  );
  kinds.delete("status");
  return [...kinds, "status"].map((kind) => {
    const cell = (variant: Variant): EvidenceCell => ({
      seen: text(seen(variant, kind)),
      expected: text(expected(variant, kind)),
      ok: outcomes
        ? !outcomes[variant].differences.some((difference) => difference.kind === kind)
        : null,
    });
    const cells = { pitfall: cell("pitfall"), fix: cell("fix") };
    return { kind, cells, isContrast: cells.pitfall.expected !== cells.fix.expected };
  });
}

/** Of a field of the output nothing is known before the run has ended; everything else counts from zero. */
const absent = (kind: string) => (kind.startsWith("output.") ? "–" : 0);

const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
