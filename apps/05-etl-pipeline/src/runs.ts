import { findInstance } from "@durable-lessons/worker-helpers/instances";
import type { Report } from "./report.ts";

/** The run of a day, as D1 knows it. */
export interface RunRow {
  day: string;
  instance_id: string;
  state: "started" | "complete";
  report: string | null;
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

/** Finds the run of a day, or null. */
export const findRun = (db: D1Database, day: string): Promise<RunRow | null> =>
  db.prepare("SELECT * FROM runs WHERE day = ?1").bind(day).first<RunRow>();

/** What `GET /runs/:day` tells: how far the files are, and the report once there is one. */
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
  return {
    day: row.day,
    state: row.state,
    instance: await statusOf(ETL, row.instance_id),
    files: Object.fromEntries(results.map(({ state, files }) => [state, files])),
    rows: sum("rows"),
    rejected: sum("rejected"),
    skipped: skipped.results,
    report: row.report === null ? null : (JSON.parse(row.report) as Report),
  };
}

/** The platform's view of an instance, or null: it forgets one after its retention. */
async function statusOf(workflow: Workflow, id: string) {
  const instance = await findInstance(workflow, id);
  if (!instance) return null;
  const { status, error = null } = await instance.status();
  return { id, status, error };
}
