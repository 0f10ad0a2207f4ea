/**
 * What a page knows of a pair that is being run, built from the progress of a session. The recorder of committed evidence
 * builds it in the same way, so that a recorded run and a live one are drawn by the same code.
 */
import type { Variant } from "@durable-lessons/lab";
import type { Difference } from "@durable-lessons/lab/evidence";
import type { CrashTimes, Mark, PlatformEvent } from "@durable-lessons/lab/runner";
import type { StreamedProgress } from "../lab/lab-server.ts";

/** One run, as far as it has come. */
export interface RunTrace {
  /** `not started` until it is. */
  status: string;
  evidence: Record<string, unknown>;
  events: PlatformEvent[];
  marks: Mark[];
}

/** Both runs of a pair on one clock, in milliseconds: since the epoch while live, since the first event where recorded. */
export interface PairTrace {
  runs: Record<Variant, RunTrace>;
  crash: CrashTimes | null;
}

/** What came of one run: the part of a `VariantResult` that does not change from run to run. */
export interface Outcome {
  status: string;
  error: string | null;
  evidence: Record<string, unknown>;
  expected: Record<string, unknown>;
  differences: Difference[];
  ok: boolean;
}

/** Where a pair stands that somebody runs. */
export type Phase =
  | "idle"
  | "starting"
  | "running"
  | "at-crash-point"
  | "killing"
  | "waking"
  | "ended"
  | "failed";

/** A pair that somebody runs. */
export interface PairRun {
  phase: Phase;
  trace: PairTrace;
  /** Which workerd was killed by what, and which one took its place. */
  crash: { pidBefore: number; pidAfter: number; signal: string } | null;
  outcomes: Record<Variant, Outcome> | null;
  error: string | null;
}

/** A pair of which nothing has happened yet. */
export const newPairRun = (phase: Phase = "idle"): PairRun => ({
  phase,
  trace: { runs: { pitfall: newTrace(), fix: newTrace() }, crash: null },
  crash: null,
  outcomes: null,
  error: null,
});

const newTrace = (): RunTrace => ({ status: "not started", evidence: {}, events: [], marks: [] });

/** Changes the state of a pair as its progress says. */
export function applyProgress(run: PairRun, progress: StreamedProgress): void {
  const { runs } = run.trace;
  switch (progress.type) {
    case "starting":
      run.phase = "starting";
      return;
    case "ready":
      return;
    case "run-started":
      // A run that came too late to its crash point is started anew.
      runs[progress.variant] = { ...newTrace(), status: "running" };
      run.phase = "running";
      return;
    case "run-snapshot": {
      const { status, evidence, marks } = progress.snapshot;
      Object.assign(runs[progress.variant], { status, evidence, marks });
      return;
    }
    case "run-event":
      runs[progress.variant].events.push(progress.event);
      return;
    case "crash-point": {
      runs[progress.variant].status = "at its crash point";
      const isThere = ({ status }: RunTrace) => status === "at its crash point" || isEnding(status);
      if (run.phase === "running" && isThere(runs.pitfall) && isThere(runs.fix)) {
        run.phase = "at-crash-point";
      }
      return;
    }
    case "crash-asked":
      run.phase = "killing";
      return;
    case "crashed": {
      const { at, upAt, pidBefore, pidAfter, signal } = progress;
      run.trace.crash = { at, upAt };
      run.crash = { pidBefore, pidAfter, signal };
      run.phase = "waking";
      return;
    }
    case "run-woken":
    case "run-disturbed":
    case "runtime-lost":
    case "pair-unreadable":
      return;
    case "run-ended": {
      const { status, evidence } = progress.result;
      Object.assign(runs[progress.variant], { status, evidence });
      return;
    }
    case "pair-compared": {
      const { pitfall, fix } = progress.result.variants;
      run.outcomes = { pitfall: outcomeOf(pitfall), fix: outcomeOf(fix) };
      run.phase = "ended";
      return;
    }
    case "failed":
      run.phase = "failed";
      run.error = progress.message;
  }
}

const isEnding = (status: string) =>
  ["complete", "errored", "terminated", "timed out", "failed", "blocked"].includes(status);

function outcomeOf(result: Omit<Outcome, "error"> & { error: unknown }): Outcome {
  const { status, error, evidence, expected, differences, ok } = result;
  return { status, error: errorText(error), evidence, expected, differences, ok };
}

function errorText(error: unknown): string | null {
  if (error === null || error === undefined) return null;
  if (typeof error === "string") return error;
  const hasMessage = typeof error === "object" && "message" in error;
  return hasMessage ? String(error.message) : JSON.stringify(error);
}
