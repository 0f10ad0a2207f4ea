import { NonRetryableError } from "cloudflare:workflows";

/**
 * What a day came to: all of it that is in D1. Loaded once more from the same files, it is the same; a file that is gone since
 * keeps its rows, and they count.
 */
export interface Report {
  day: string;
  /** How many files were loaded, how many of these have no byte, what was skipped, and what an earlier run had listed. */
  files: { loaded: number; empty: number; skipped: number; gone: number };
  rows: number;
  rejected: number;
  /** Rows and sum of each currency, in its minor unit. */
  currencies: Record<string, { rows: number; minor: number }>;
  /** Rejected rows by reason. */
  reasons: Record<string, number>;
}

/** Counts what is in D1, compares what is there of this run's files with what they held, and stores the result with the day. */
export async function writeReport(db: D1Database, day: string): Promise<Report> {
  const report = await countDay(db, day);
  await db
    .prepare("UPDATE runs SET state = 'complete', report = ?2 WHERE day = ?1")
    .bind(day, JSON.stringify(report))
    .run();
  return report;
}

async function countDay(db: D1Database, day: string): Promise<Report> {
  const files = await db
    .prepare(
      `SELECT COUNT(*) FILTER (WHERE state = 'loaded') AS loaded,
         COUNT(*) FILTER (WHERE state = 'loaded' AND bytes = 0) AS empty,
         COUNT(*) FILTER (WHERE state = 'skipped') AS skipped,
         COUNT(*) FILTER (WHERE state = 'gone') AS gone,
         TOTAL(rows) FILTER (WHERE state = 'loaded') AS readRows,
         TOTAL(rejected) FILTER (WHERE state = 'loaded') AS readRejects
       FROM files WHERE day = ?1`,
    )
    .bind(day)
    .first<Report["files"] & { readRows: number; readRejects: number }>();
  if (!files) throw new Error("A count is one row.");
  const { readRows, readRejects, ...states } = files;
  const currencies = await db
    .prepare(
      `SELECT currency AS name, COUNT(*) AS rows, SUM(minor) AS minor, ${FROM_THIS_RUN}
       FROM sales WHERE day = ?1 GROUP BY currency ORDER BY currency`,
    )
    .bind(day)
    .all<{ name: string; rows: number; minor: number; fromThisRun: number }>();
  const reasons = await db
    .prepare(
      `SELECT reason AS name, COUNT(*) AS rows, ${FROM_THIS_RUN}
       FROM rejects WHERE day = ?1 GROUP BY reason ORDER BY reason`,
    )
    .bind(day)
    .all<{ name: string; rows: number; fromThisRun: number }>();

  // The files say what was read, the tables what has arrived. A difference is nothing that a retry could mend.
  const inTables = [sum(currencies.results, "fromThisRun"), sum(reasons.results, "fromThisRun")];
  if (inTables.join() !== [readRows, readRejects].join()) {
    throw new NonRetryableError(
      `The books do not balance: ${readRows} rows and ${readRejects} rejects were read, ${inTables.join(" and ")} are in D1.`,
    );
  }
  return {
    day,
    files: states,
    rows: sum(currencies.results, "rows"),
    rejected: sum(reasons.results, "rows"),
    currencies: Object.fromEntries(
      currencies.results.map(({ name, rows, minor }) => [name, { rows, minor }]),
    ),
    reasons: Object.fromEntries(reasons.results.map(({ name, rows }) => [name, rows])),
  };
}

const FROM_THIS_RUN = `COUNT(*) FILTER (WHERE file IN
  (SELECT file FROM files WHERE files.day = ?1 AND state = 'loaded')) AS fromThisRun`;

const sum = <Field extends string>(groups: Record<Field, number>[], field: Field) =>
  groups.reduce((all, group) => all + group[field], 0);
