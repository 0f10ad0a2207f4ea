/** From what the platform told of two runs to what is drawn of them. Knows nothing of SVG. */
import { VARIANTS, type Variant } from "@durable-lessons/lab";
import type { Mark, PlatformEvent } from "@durable-lessons/lab/runner";
import type { PairTrace, RunTrace } from "./run-state.ts";

/** How a bar ended. `killed`: it was under way when the runtime died. `open`: it still is. */
export type BarEnd = "ok" | "failed" | "killed" | "open" | "timed-out";

/** A stretch of time in a row. */
export interface Bar {
  kind: "attempt" | "pause" | "sleep" | "wait";
  from: number;
  /** Null while it goes on. */
  to: number | null;
  end: BarEnd;
  attempt?: number;
  /** What an attempt failed with. */
  error?: string;
}

/** A moment in a row. */
interface Point {
  kind: string;
  at: number;
}

/** A step, a message, or a kind of effect. */
export interface Row {
  kind: "effect" | "message" | "step" | "rollback";
  /** The step's name, the message's index, or the effect's kind. */
  label: string;
  bars: Bar[];
  points: Point[];
  /** When the step, finished in an earlier life of its instance, was passed over in a later one. */
  readBackAt: number | null;
}

/** Both runs on one axis. */
export interface Timeline {
  rows: Record<Variant, Row[]>;
  crash: { at: number; upAt: number } | null;
  start: number;
  end: number;
  /** Where a moment lies on the axis, from 0 to 1. Short stretches are drawn longer and long ones shorter. */
  position: (at: number) => number;
}

const OBSERVED_OF_MESSAGES = new Set([
  "message.acked",
  "message.dead-lettered",
  "message.delivered",
]);

/** More instances, or more messages, than this share a row. */
const MANY = 5;

/** Draws up the timeline of a pair; null where nothing has happened yet. */
export function timelineOf({ runs, crash }: PairTrace): Timeline | null {
  const rows = {
    pitfall: rowsOf(runs.pitfall, crash?.at ?? null),
    fix: rowsOf(runs.fix, crash?.at ?? null),
  };
  const times = VARIANTS.flatMap((variant) => [
    ...rows[variant].flatMap((row) => [
      ...row.bars.flatMap(({ from, to }) => [from, to ?? from]),
      ...row.points.map(({ at }) => at),
      ...(row.readBackAt === null ? [] : [row.readBackAt]),
    ]),
    ...runs[variant].events.map(({ timestamp }) => timestamp),
  ]);
  if (times.length === 0) return null;
  if (crash) times.push(crash.at, crash.upAt);
  const { start, end, position } = axisOf(times);
  return { rows, crash, start, end, position };
}

/**
 * An axis on which a step of five milliseconds is seen beside a pause of three seconds: the stretch between two moments
 * grows with the logarithm of its length.
 */
function axisOf(times: number[]): Pick<Timeline, "end" | "position" | "start"> {
  const moments = [...new Set(times)].toSorted((a, b) => a - b);
  const [start = 0] = moments;
  const end = moments.at(-1) ?? start;
  let width = 0;
  const offsets = moments.map((moment, index) => {
    const before = moments[index - 1];
    if (before !== undefined) width += Math.log2(1 + (moment - before) / 4) + 0.4;
    return width;
  });
  const position = (at: number): number => {
    if (width === 0 || at <= start) return 0;
    if (at >= end) return 1;
    const next = moments.findIndex((moment) => moment >= at);
    const [from = 0, to = 0] = [moments[next - 1], moments[next]];
    const [left = 0, right = 0] = [offsets[next - 1], offsets[next]];
    return (left + ((at - from) / (to - from)) * (right - left)) / width;
  };
  return { start, end, position };
}

function rowsOf(run: RunTrace, crashAt: number | null): Row[] {
  const byInstance = Map.groupBy(run.events, ({ instanceId }) => instanceId);
  const isCrowd = byInstance.size > MANY;
  const steps = [...byInstance.values()].flatMap((events, index) => {
    const prefix = byInstance.size > 1 && !isCrowd ? `#${index + 1} ` : "";
    return stepRows(events, crashAt).map((row) => ({ ...row, label: prefix + row.label }));
  });
  const messages = run.marks.filter(({ kind }) => OBSERVED_OF_MESSAGES.has(kind));
  const others = run.marks.filter(({ kind }) => !OBSERVED_OF_MESSAGES.has(kind));
  const indexes = new Set(messages.map(({ detail }) => detail));
  return [
    ...(isCrowd ? mergedRows(steps, byInstance.size) : steps),
    ...pointRows(messages, "message", ({ detail }) =>
      indexes.size > MANY ? `1–${indexes.size}` : String(Number(detail) + 1),
    ),
    ...pointRows(others, "effect", ({ kind }) => kind),
  ];
}

/** Steps of the same name in many instances, as one row. */
function mergedRows(rows: Row[], instances: number): Row[] {
  return [...Map.groupBy(rows, ({ kind, label }) => `${kind} ${label}`).values()].flatMap(
    (same) => {
      const [first] = same;
      if (!first) return [];
      return {
        ...first,
        label: `${first.label} (× ${instances})`,
        bars: same.flatMap(({ bars }) => bars),
      };
    },
  );
}

function pointRows(marks: Mark[], kind: Row["kind"], labelOf: (mark: Mark) => string): Row[] {
  return [...Map.groupBy(marks, labelOf)]
    .toSorted(([a], [b]) => a.localeCompare(b, "en", { numeric: true }))
    .map(([label, of]) => ({
      kind,
      label,
      bars: [],
      points: of.map((mark) => ({ kind: mark.kind, at: mark.at })),
      readBackAt: null,
    }));
}

/** Events of one instance that belong to a row of its own, as far as their types tell. */
const STARTS: Record<string, Bar["kind"]> = {
  attempt_started: "attempt",
  rollback_attempt_started: "attempt",
  sleep_started: "sleep",
  wait_started: "wait",
};
const ENDS: Record<string, BarEnd> = {
  attempt_completed: "ok",
  attempt_errored: "failed",
  rollback_attempt_completed: "ok",
  rollback_attempt_errored: "failed",
  sleep_completed: "ok",
  wait_completed: "ok",
  wait_timed_out: "timed-out",
};
const FINISHES = new Set(["sleep_completed", "step_completed", "wait_completed"]);

function stepRows(unsorted: PlatformEvent[], crashAt: number | null): Row[] {
  const events = unsorted.toSorted((a, b) => a.timestamp - b.timestamp || a.eventId - b.eventId);
  const rows = new Map<string, Row>();
  for (const event of events) {
    if (event.stepName === undefined) continue;
    const kind = event.type.startsWith("rollback_") ? "rollback" : "step";
    const key = `${kind} ${event.stepName}`;
    const row: Row = rows.get(key) ?? {
      kind,
      label: nameOf(event.stepName),
      bars: [],
      points: [],
      readBackAt: null,
    };
    rows.set(key, row);
    addTo(row, event);
  }
  const life = secondLife(events, crashAt);
  for (const row of rows.values()) {
    if (crashAt !== null) endKilled(row, crashAt);
  }
  if (life) {
    for (const stepName of life.readBack) {
      const row = rows.get(`step ${stepName}`);
      if (row) row.readBackAt = life.from;
    }
  }
  return [...rows.values()];
}

function addTo(row: Row, event: PlatformEvent): void {
  const { type, timestamp, attempt, error, retryDelayMs } = event;
  const kind = STARTS[type];
  if (kind) {
    const last = row.bars.at(-1);
    // A pause ends when the next attempt begins, whatever was planned.
    if (last?.kind === "pause") last.to = timestamp;
    row.bars.push({
      kind,
      from: timestamp,
      to: null,
      end: "open",
      ...(attempt === undefined ? {} : { attempt }),
    });
    return;
  }
  const end = ENDS[type];
  if (!end) return;
  const bar = row.bars.findLast((open) => open.to === null && open.attempt === attempt);
  if (bar) {
    bar.to = timestamp;
    bar.end = end;
    if (error) bar.error = error.message;
  }
  if (retryDelayMs !== undefined && retryDelayMs > 0) {
    row.bars.push({ kind: "pause", from: timestamp, to: timestamp + retryDelayMs, end: "ok" });
  }
}

/** What was under way when the runtime died ended there, unless the platform itself told of its end: a sleep goes on. */
function endKilled(row: Row, crashAt: number): void {
  for (const bar of row.bars) {
    if (bar.kind === "attempt" && bar.to === null && bar.from <= crashAt) {
      bar.to = crashAt;
      bar.end = "killed";
    }
  }
}

/**
 * The life of an instance after a crash or a restart, and the steps that it read back. The platform tells of no reading:
 * a step was read back if it had finished before, was not run again, and the new life came to where the old one was.
 * Where a life first starts a step that the old one did not know, `run()` went another way; then nothing is claimed of
 * the steps before.
 */
function secondLife(
  events: PlatformEvent[],
  crashAt: number | null,
): { from: number; readBack: string[] } | null {
  const starts = events.filter(({ type }) => type === "workflow_running");
  const restartedAt = starts[1]?.timestamp;
  const boundary = restartedAt ?? crashAt;
  if (boundary === null) return null;
  const isBefore = ({ timestamp }: PlatformEvent) =>
    restartedAt === undefined ? timestamp <= boundary : timestamp < boundary;
  const before = events.filter(isBefore);
  const after = events.filter((event) => !isBefore(event));
  const [first] = after;
  if (!first) return null;

  const finished = new Set(
    before.filter(({ type }) => FINISHES.has(type)).map(({ stepName }) => stepName),
  );
  const known = new Set(before.map(({ stepName }) => stepName));
  const gaveUp = new Set(
    before.filter(({ type }) => type === "step_errored").map(({ stepName }) => stepName),
  );
  const isUnderWay = (name: string | undefined) =>
    known.has(name) && !finished.has(name) && !gaveUp.has(name);
  const wasUnderWay = before.some(({ stepName, type }) =>
    type === "step_started" || STARTS[type] ? isUnderWay(stepName) : false,
  );
  const firstStep = after.find(({ stepName }) => stepName !== undefined);
  const wentAnotherWay =
    restartedAt === undefined && wasUnderWay && firstStep && !known.has(firstStep.stepName);
  if (wentAnotherWay) return null;

  const again = new Set(after.map(({ stepName }) => stepName));
  const readBack = [...finished].filter((name) => name !== undefined && !again.has(name));
  return { from: first.timestamp, readBack: readBack.filter((name) => name !== undefined) };
}

/** The platform appends a count to a step's name: `charge-1`, and `charge-2` for the second step of that name. */
function nameOf(stepName: string): string {
  const [, name = stepName, count = "1"] = /^(.*)-(\d+)$/s.exec(stepName) ?? [];
  return count === "1" ? name : `${name} (${count})`;
}
