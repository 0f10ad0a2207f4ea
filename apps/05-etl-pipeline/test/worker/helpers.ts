import { untilOver } from "@durable-lessons/test-kit";
import { env } from "cloudflare:workers";
import { incoming } from "../../src/files.ts";
import { findRun, viewOf as viewOfRun } from "../../src/runs.ts";
import type { Report } from "../../src/report.ts";
import { startRun } from "../../src/start-run.ts";

export const HEADER = "sale_id,sold_at,shop,currency,amount";

let days = 0;

/** A day that no other test of the file has. */
export const newDay = () => new Date(Date.UTC(2020, 0, ++days)).toISOString().slice(0, 10);

/** A row in order. */
export const row = (day: string, id: string, amount = "1.00") =>
  `${id},${day}T10:00:00Z,Berlin,EUR,${amount}`;

/** A file of rows. */
export const csv = (...rows: string[]) => [HEADER, ...rows, ""].join("\n");

/** Delivers files of a day. */
export async function deliver(day: string, files: Record<string, string | Uint8Array>) {
  for (const [file, content] of Object.entries(files)) {
    await env.FILES.put(incoming(day) + file, content);
  }
}

/** The instance that loads a day. */
export const instanceOf = (day: string) => env.ETL.get(`etl-${day.replaceAll("-", "--")}`);

/** Waits for the end of a day's run, and gives its report. */
export async function reportOf(day: string): Promise<Report> {
  const status = await untilOver(await instanceOf(day));
  if (status.status !== "complete") throw new Error(JSON.stringify(status));
  return status.output as Report;
}

/** Loads a day, and gives the report. */
export async function load(day: string): Promise<Report> {
  await startRun(env, day);
  return reportOf(day);
}

/** What of a day is in D1. */
export async function contentsOf(day: string) {
  const sales = await env.DB.prepare(
    "SELECT sale_id, file, line, minor FROM sales WHERE day = ?1 ORDER BY sale_id",
  )
    .bind(day)
    .all<{ sale_id: string; file: string; line: number; minor: number }>();
  const rejects = await env.DB.prepare(
    "SELECT file, line, reason, text FROM rejects WHERE day = ?1 ORDER BY file, line",
  )
    .bind(day)
    .all<{ file: string; line: number; reason: string; text: string }>();
  return {
    sales: sales.results.map(
      ({ sale_id, file, line, minor }) => `${sale_id} ${file}:${line} ${minor}`,
    ),
    rejects: rejects.results,
  };
}

/** What `GET /runs/:day` tells. */
export async function viewOf(day: string) {
  const found = await findRun(env.DB, day);
  if (!found) throw new Error(`There is no run of ${day}.`);
  return viewOfRun(env, found);
}

/** The report that D1 keeps. */
export async function storedReport(day: string): Promise<unknown> {
  const found = await findRun(env.DB, day);
  return { state: found?.state, report: JSON.parse(found?.report ?? "null") };
}
