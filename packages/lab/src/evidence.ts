import type { Expectation, RunReport } from "./pair.ts";

/** One value that is not as expected. */
export interface Difference {
  kind: string;
  expected: unknown;
  seen: unknown;
}

/**
 * Compares what was seen of a run with what is expected of its variant.
 *
 * @returns `evidence` and `expected` over the same kinds, and what differs (nothing: as expected)
 */
export function compareEvidence(
  expectation: Expectation,
  report: Pick<RunReport, "status" | "output" | "evidence" | "observations">,
): {
  evidence: Record<string, unknown>;
  expected: Record<string, unknown>;
  differences: Difference[];
} {
  const { status = "complete", ...counts } = expectation;
  const evidence: Record<string, unknown> = { ...report.evidence };
  const expected: Record<string, unknown> = { ...counts };
  for (const kind of Object.keys(evidence)) expected[kind] ??= 0;
  for (const kind of Object.keys(expected)) {
    evidence[kind] ??= kind.startsWith("output.")
      ? fieldOf(report.output, kind.slice("output.".length))
      : (report.observations[kind] ?? 0);
  }
  const differences = Object.keys(expected)
    .filter((kind) => evidence[kind] !== expected[kind])
    .map((kind) => ({ kind, expected: expected[kind], seen: evidence[kind] }));
  if (report.status !== status) {
    differences.unshift({ kind: "status", expected: status, seen: report.status });
  }
  if (expectation.status) {
    evidence["status"] = report.status;
    expected["status"] = status;
  }
  return { evidence, expected, differences };
}

function fieldOf(output: unknown, path: string): unknown {
  let value = output;
  for (const name of path.split(".")) {
    value = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  }
  return value;
}
