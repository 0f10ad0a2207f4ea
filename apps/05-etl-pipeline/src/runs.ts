import { findInstance } from "@durable-lessons/worker-helpers/instances";
import type { Report } from "./report.ts";

/** The run of a day, as D1 knows it. */
export interface RunRow {
  day: string;
  instance_id: string;
  state: "started" | "complete";
  report: string | null;
  /** Why its last run has failed. */
  reason: string | null;
  created_at: number;
}

/** Notes the run of a day; false where it is noted already. */
export async function insertRun(db: D1Database, day: string, instanceId: string): Promise<boolean> {
  const { meta } = await db
    .prepare(
      `INSERT INTO runs (day, instance_id, state, created_at) VALUES (?1, ?2, 'started', ?3)
       ON CONFLICT (day) DO NOTHING`,
    )
    .bind(day, instanceId, Date.now())
    .run();
  return meta.changes === 1;
}

/** A run begins, or begins again: what the last one came to is past, and a file is gone until it is listed. */
export async function openRun(db: D1Database, day: string): Promise<void> {
  await db.batch([
    db.prepare("UPDATE runs SET state = 'started', reason = NULL WHERE day = ?1").bind(day),
    db.prepare("UPDATE files SET state = 'gone' WHERE day = ?1").bind(day),
  ]);
}

/** Notes why a run has failed. */
export async function failRun(db: D1Database, day: string, reason: string): Promise<void> {
  await db.prepare("UPDATE runs SET reason = ?2 WHERE day = ?1").bind(day, reason).run();
}

/** Finds the run of a day, or null. */
export const findRun = (db: D1Database, day: string): Promise<RunRow | null> =>
  db.prepare("SELECT * FROM runs WHERE day = ?1").bind(day).first<RunRow>();

/** What `GET /runs/:day` tells: how far the files are, why it has failed if it has, and the report once there is one. */
export async function viewOf({ DB, ETL }: Env, row: RunRow) {
  const { results } = await DB.prepare(
    `SELECT state, COUNT(*) AS files, SUM(rows) AS rows, SUM(rejected) AS rejected
     FROM files WHERE day = ?1 GROUP BY state`,
  )
    .bind(row.day)
    .all<{ state: string; files: number; rows: number; rejected: number }>();
  const skipped = await DB.prepare(
    "SELECT file, reason FROM files WHERE day = ?1 AND state = 'skipped' ORDER BY file LIMIT 100",
  )
    .bind(row.day)
    .all<{ file: string; reason: string }>();
  const present = results.filter(({ state }) => state !== "gone");
  const sum = (field: "rows" | "rejected") => present.reduce((all, of) => all + of[field], 0);
  const report = row.report === null ? null : (JSON.parse(row.report) as Report);
  // While a run works: what it has read so far. After it: what is loaded, files that are gone included.
  const isLoaded = report !== null && row.state === "complete";
  return {
    day: row.day,
    state: row.reason === null ? row.state : "failed",
    reason: row.reason,
    instance: await statusOf(ETL, row.instance_id),
    files: Object.fromEntries(results.map(({ state, files }) => [state, files])),
    rows: isLoaded ? report.rows : sum("rows"),
    rejected: isLoaded ? report.rejected : sum("rejected"),
    skipped: skipped.results,
    report,
  };
}

/** The platform's view of an instance, or null: it forgets one after its retention. */
async function statusOf(workflow: Workflow, id: string) {
  const instance = await findInstance(workflow, id);
  if (!instance) return null;
  const { status, error = null } = await instance.status();
  return { id, status, error };
}
