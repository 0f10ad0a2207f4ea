import { join } from "node:path";
import type { PlatformEvent } from "@durable-lessons/lab/runner";
import { describe, expect, test } from "vitest";
import { readRecording } from "../.vitepress/lab/pair-pages.ts";
import { chartOf, tableOf } from "../.vitepress/theme/chart.ts";
import { MESSAGES } from "../.vitepress/theme/messages.ts";
import type { PairTrace } from "../.vitepress/theme/run-state.ts";
import { timelineOf } from "../.vitepress/theme/timeline.ts";

const docs = join(import.meta.dirname, "..");

/** Real events: those that were recorded of a pair of lesson 1. */
async function recorded(id: string): Promise<PairTrace> {
  const recording = await readRecording(docs, "01-onboarding-workflow");
  const entry = recording?.pairs.find(({ pair }) => pair === id);
  if (!entry) throw new Error(`Nothing is recorded of ${id}.`);
  return entry.trace;
}

const timelineOfPair = async (id: string) => {
  const timeline = timelineOf(await recorded(id));
  if (!timeline) throw new Error(`Nothing happened in ${id}.`);
  return timeline;
};

/** Events made up for what no recorded pair has, numbered in their order. */
const trace = (...events: Omit<PlatformEvent, "eventId" | "instanceId">[]): PairTrace => ({
  runs: {
    pitfall: {
      status: "complete",
      evidence: {},
      events: events.map((event, index) => ({ instanceId: "1", eventId: index + 1, ...event })),
      marks: [],
    },
    fix: { status: "complete", evidence: {}, events: [], marks: [] },
  },
  crash: null,
});

const summary = (rows: { label: string; bars: { end: string }[]; readBackAt: number | null }[]) =>
  rows.map(({ label, bars, readBackAt }) =>
    [label, ...bars.map(({ end }) => end), ...(readBackAt === null ? [] : ["read back"])].join(" "),
  );
const steps = (
  rows: { kind: string; label: string; bars: { end: string }[]; readBackAt: number | null }[],
) => summary(rows.filter(({ kind }) => kind === "step"));

describe("a crash", () => {
  test("ends the attempt that was under way, and a finished step is read back", async () => {
    const { rows, crash } = await timelineOfPair("side-effect-outside-step");
    expect(steps(rows.pitfall)).toEqual(["open account killed ok"]);
    expect(steps(rows.fix)).toEqual(["send welcome mail ok read back", "open account killed ok"]);
    const [killed, again] = rows.fix[1]?.bars ?? [];
    expect(killed?.to).toBe(crash?.at);
    expect(again?.from).toBeGreaterThanOrEqual(crash?.upAt ?? Number.NaN);
    expect(rows.fix[0]?.readBackAt).toBeGreaterThanOrEqual(crash?.upAt ?? Number.NaN);
  });

  test("reads nothing back, as far as anybody can tell, where run() went another way", async () => {
    const clock = await timelineOfPair("clock-in-a-branch");
    expect(steps(clock.rows.pitfall)).toEqual([
      "send mail with offer ok",
      "open account killed ok",
      "send mail without offer ok",
    ]);
    expect(steps(clock.rows.fix)).toEqual([
      "check offer ok read back",
      "send mail with offer ok read back",
      "open account killed ok",
    ]);
    const name = await timelineOfPair("clock-in-a-step-name");
    expect(steps(name.rows.pitfall).filter((row) => row.includes("read back"))).toEqual([]);
  });

  test("shows effects on both of its sides", async () => {
    const { rows, crash } = await timelineOfPair("side-effect-outside-step");
    const mails = rows.pitfall.find(({ label }) => label === "email.sent")?.points ?? [];
    expect(mails.map(({ at }) => at < (crash?.at ?? Number.NaN))).toEqual([true, false]);
  });
});

test("a failed attempt, the pause before the next one, and its error", async () => {
  const { rows, crash } = await timelineOfPair("insert-that-cannot-repeat");
  expect(crash).toBeNull();
  const [row] = rows.pitfall;
  expect(row?.bars.map(({ kind, end, attempt }) => [kind, end, attempt])).toEqual([
    ["attempt", "failed", 1],
    ["pause", "ok", undefined],
    ["attempt", "failed", 2],
  ]);
  expect(row?.bars[2]?.error).toContain("UNIQUE constraint failed");
  expect(row?.bars[1]?.to).toBe(row?.bars[2]?.from);
});

test("sleeps and waits, one that times out, and an undo", () => {
  const timeline = timelineOf(
    trace(
      { type: "workflow_running", timestamp: 0 },
      { type: "sleep_started", timestamp: 1, stepName: "night-1" },
      { type: "sleep_completed", timestamp: 500, stepName: "night-1" },
      { type: "wait_started", timestamp: 501, stepName: "review-2", eventType: "review" },
      { type: "wait_timed_out", timestamp: 900, stepName: "review-2" },
      { type: "rollback_step_started", timestamp: 901, stepName: "charge-1" },
      { type: "rollback_attempt_started", timestamp: 902, stepName: "charge-1", attempt: 1 },
      { type: "rollback_attempt_completed", timestamp: 905, stepName: "charge-1", attempt: 1 },
    ),
  );
  expect(timeline?.rows.pitfall).toMatchObject([
    { kind: "step", label: "night", bars: [{ kind: "sleep", from: 1, to: 500, end: "ok" }] },
    { kind: "step", label: "review (2)", bars: [{ kind: "wait", to: 900, end: "timed-out" }] },
    {
      kind: "rollback",
      label: "charge",
      bars: [{ kind: "attempt", from: 902, to: 905, end: "ok" }],
    },
  ]);
});

test("a restart from a step reads back what came before it", () => {
  const timeline = timelineOf(
    trace(
      { type: "workflow_running", timestamp: 0 },
      { type: "step_started", timestamp: 1, stepName: "charge-1" },
      { type: "attempt_started", timestamp: 1, stepName: "charge-1", attempt: 1 },
      { type: "attempt_completed", timestamp: 2, stepName: "charge-1", attempt: 1 },
      { type: "step_completed", timestamp: 2, stepName: "charge-1" },
      { type: "step_started", timestamp: 3, stepName: "ship-1" },
      { type: "attempt_started", timestamp: 3, stepName: "ship-1", attempt: 1 },
      { type: "attempt_errored", timestamp: 4, stepName: "ship-1", attempt: 1 },
      { type: "step_errored", timestamp: 4, stepName: "ship-1" },
      { type: "workflow_running", timestamp: 90 },
      { type: "step_started", timestamp: 91, stepName: "ship-1" },
      { type: "attempt_started", timestamp: 91, stepName: "ship-1", attempt: 1 },
      { type: "attempt_completed", timestamp: 95, stepName: "ship-1", attempt: 1 },
    ),
  );
  expect(summary(timeline?.rows.pitfall ?? [])).toEqual(["charge ok read back", "ship failed ok"]);
});

test("messages have a row each with a mark per delivery, and share one where they are many", () => {
  const delivered = (count: number): PairTrace => {
    const nothing = trace();
    const marks = Array.from({ length: count }, (_, index) => [
      { kind: "message.delivered", detail: index, at: index },
      { kind: "message.acked", detail: index, at: index + 1 },
    ]).flat();
    nothing.runs.fix.marks = marks;
    return nothing;
  };
  expect(timelineOf(delivered(2))?.rows.fix).toMatchObject([
    { kind: "message", label: "1", points: [{ kind: "message.delivered", at: 0 }, { at: 1 }] },
    { kind: "message", label: "2", points: [{ kind: "message.delivered", at: 1 }, { at: 2 }] },
  ]);
  const many = timelineOf(delivered(20))?.rows.fix ?? [];
  expect(many.map(({ label, points }) => [label, points.length])).toEqual([["1–20", 40]]);
});

describe("the axis", () => {
  test("keeps the order of time, from 0 to 1", async () => {
    const { rows, position, start, end } = await timelineOfPair("side-effect-outside-step");
    const times = rows.pitfall
      .flatMap(({ bars }) => bars.flatMap(({ from, to }) => [from, to ?? end]))
      .toSorted((a, b) => a - b);
    const positions = [start, ...times, end].map(position);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    expect(positions.at(0)).toBe(0);
    expect(positions.at(-1)).toBe(1);
  });

  test("shows a step of milliseconds beside a pause of seconds", async () => {
    const { rows, position } = await timelineOfPair("side-effect-outside-step");
    for (const row of rows.fix) {
      for (const { from, to } of row.bars) {
        expect(position(to ?? from) - position(from)).toBeGreaterThan(0.01);
      }
    }
  });
});

test("nothing that has not happened is drawn", () => {
  expect(timelineOf(trace())).toBeNull();
});

test("everything of the drawing lies within it, however narrow, and the table says the same", async () => {
  for (const id of ["side-effect-outside-step", "insert-that-cannot-repeat", "double-submit"]) {
    const timeline = await timelineOfPair(id);
    for (const width of [300, 688, 1100]) {
      const { panels, crash, height } = chartOf(timeline, width, MESSAGES.en);
      const xs = panels.flatMap(({ rows }) =>
        rows.flatMap(({ bars, points }) => [
          ...bars.flatMap((bar) => [bar.x, bar.x + bar.width]),
          ...points.map(({ x }) => x),
        ]),
      );
      expect(Math.min(...xs)).toBeGreaterThanOrEqual(10);
      expect(Math.max(...xs)).toBeLessThanOrEqual(width - 6);
      expect(Math.max(...panels.flatMap(({ rows }) => rows.map(({ y }) => y)))).toBeLessThan(
        height,
      );
      expect(crash === null).toBe(timeline.crash === null);
    }
    const marks = [timeline.rows.pitfall, timeline.rows.fix]
      .flat()
      .reduce(
        (sum, row) => sum + row.bars.length + row.points.length + (row.readBackAt === null ? 0 : 1),
        timeline.crash ? 1 : 0,
      );
    for (const messages of Object.values(MESSAGES)) {
      expect(tableOf(timeline, messages)).toHaveLength(marks);
    }
  }
});
