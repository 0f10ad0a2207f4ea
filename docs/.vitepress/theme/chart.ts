/** Where everything of a timeline lies in an SVG of a given width. */
import { VARIANTS, type Variant } from "@durable-lessons/lab";
import type { Messages } from "./messages.ts";
import type { Bar, Row, Timeline } from "./timeline.ts";

const TITLE_HEIGHT = 30;
const ROW_HEIGHT = 34;
const PANEL_GAP = 18;
const TOP = 26;
const BOTTOM = 22;
const MARGIN = 10;
/** A bar that is shorter could not be seen. */
const MIN_BAR = 4;

/** A rectangle of a bar. */
interface ChartBar {
  x: number;
  width: number;
  kind: Bar["kind"];
  end: Bar["end"];
  /** For a pointer that rests on it. */
  title: string;
}

/** A row of the drawing. */
interface ChartRow {
  label: string;
  y: number;
  bars: ChartBar[];
  points: { x: number; kind: string; title: string }[];
  readBackX: number | null;
}

/** One run in the drawing. */
interface ChartPanel {
  variant: Variant;
  title: string;
  y: number;
  rows: ChartRow[];
}

/** The whole drawing. */
export interface Chart {
  width: number;
  height: number;
  panels: ChartPanel[];
  crash: { x: number; upX: number; fromY: number; toY: number } | null;
  axisY: number;
  startLabel: string;
  endLabel: string;
}

/** A row of the table that says the same. */
export interface TableRow {
  variant: string;
  row: string;
  what: string;
  from: string;
  to: string;
  end: string;
}

/** What a drawing may hold that has to be explained. */
export type LegendKey =
  | "attempt"
  | "failed"
  | "killed"
  | "sleep"
  | "readBack"
  | "effect"
  | "delivered"
  | "acked"
  | "dead";

const POINTS: Record<string, LegendKey> = {
  "message.acked": "acked",
  "message.dead-lettered": "dead",
  "message.delivered": "delivered",
};

/** How a moment is drawn. */
export const pointKey = (kind: string): LegendKey => POINTS[kind] ?? "effect";

/** What a drawing really holds of that, in a fixed order. */
export function legendOf(timeline: Timeline): LegendKey[] {
  const used = new Set<LegendKey>();
  for (const row of VARIANTS.flatMap((variant) => timeline.rows[variant])) {
    for (const { kind, end } of row.bars) {
      if (kind !== "attempt") used.add("sleep");
      else used.add(end === "failed" || end === "killed" ? end : "attempt");
    }
    for (const { kind } of row.points) used.add(pointKey(kind));
    if (row.readBackAt !== null) used.add("readBack");
  }
  const order: LegendKey[] = [
    "attempt",
    "failed",
    "killed",
    "sleep",
    "readBack",
    "delivered",
    "acked",
    "dead",
    "effect",
  ];
  return order.filter((key) => used.has(key));
}

/** Lays a timeline out. */
export function chartOf(timeline: Timeline, width: number, messages: Messages): Chart {
  const inner = width - 2 * MARGIN;
  const x = (at: number) => MARGIN + timeline.position(at) * inner;
  let y = TOP;
  const panels = VARIANTS.map((variant): ChartPanel => {
    const panel: ChartPanel = { variant, title: messages.variants[variant], y, rows: [] };
    y += TITLE_HEIGHT;
    for (const row of timeline.rows[variant]) {
      panel.rows.push({
        label: labelOf(row, messages),
        y,
        bars: row.bars.map((bar) => {
          const from = x(bar.from);
          const to = x(bar.to ?? timeline.end);
          return {
            // A short one at the very end must not leave the picture.
            x: Math.min(from, width - MARGIN - MIN_BAR),
            width: Math.max(MIN_BAR, to - from),
            kind: bar.kind,
            end: bar.end,
            title: describeBar(bar, timeline, messages),
          };
        }),
        points: row.points.map(({ kind, at }) => ({
          x: x(at),
          kind,
          title: `${kind}${messages.comma}${since(timeline, at)}`,
        })),
        readBackX: row.readBackAt === null ? null : x(row.readBackAt),
      });
      y += ROW_HEIGHT;
    }
    y += PANEL_GAP;
    return panel;
  });
  const axisY = y - PANEL_GAP + 8;
  const { crash } = timeline;
  return {
    width,
    height: axisY + BOTTOM,
    panels,
    crash: crash && { x: x(crash.at), upX: x(crash.upAt), fromY: TOP - 8, toY: axisY },
    axisY,
    startLabel: "0 ms",
    endLabel: since(timeline, timeline.end),
  };
}

/** The same as {@link chartOf} draws, in the order of time, for those who do not see it. */
export function tableOf(timeline: Timeline, messages: Messages): TableRow[] {
  const { crash } = timeline;
  const rows: { at: number; row: TableRow }[] = [];
  const add = (at: number, to: number | null, of: Omit<TableRow, "from" | "to">) => {
    const times = { from: since(timeline, at), to: to === null ? "" : since(timeline, to) };
    rows.push({ at, row: { ...of, ...times } });
  };
  for (const side of VARIANTS) {
    for (const row of timeline.rows[side]) {
      const of = { variant: messages.variants[side], row: labelOf(row, messages), end: "" };
      for (const bar of row.bars) {
        add(bar.from, bar.to, {
          ...of,
          what: nameOfBar(bar, messages),
          end: messages.ends[bar.end],
        });
      }
      for (const { kind, at } of row.points) add(at, null, { ...of, what: kind });
      if (row.readBackAt !== null) add(row.readBackAt, null, { ...of, what: messages.readBack });
    }
  }
  if (crash) {
    const variant = VARIANTS.map((side) => messages.variants[side]).join(" + ");
    const of = { variant, row: "workerd", what: messages.crash, end: messages.runtimeUp };
    add(crash.at, crash.upAt, of);
  }
  return rows.toSorted((a, b) => a.at - b.at).map(({ row }) => row);
}

function labelOf(row: Row, messages: Messages): string {
  if (row.kind === "message") return messages.rows.message(row.label);
  if (row.kind === "rollback") return messages.rows.rollback(row.label);
  return row.label;
}

function nameOfBar(bar: Bar, messages: Messages): string {
  return bar.kind === "attempt" ? messages.bars.attempt(bar.attempt ?? 1) : messages.bars[bar.kind];
}

function describeBar(bar: Bar, timeline: Timeline, messages: Messages): string {
  const to = bar.to === null ? "…" : since(timeline, bar.to);
  const how = `${messages.ends[bar.end]}${messages.comma}${since(timeline, bar.from)} – ${to}`;
  const what = messages.labelled(nameOfBar(bar, messages), how);
  return bar.error === undefined ? what : `${what}\n${bar.error}`;
}

function since({ start }: Timeline, at: number): string {
  const ms = Math.round(at - start);
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(2)} s`;
}
