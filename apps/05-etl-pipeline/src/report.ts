import { NonRetryableError } from "cloudflare:workflows";

/** What a day came to. Loaded once more from the same files, it is the same. */
export interface Report {
  day: string;
  /** How many files were loaded, how many of these have no byte, what was skipped, and what was there in an earlier run. */
  files: { loaded: number; empty: number; skipped: number; gone: number };
  rows: number;
  rejected: number;
  /** Rows and sum of each currency, in its minor unit. */
  currencies: Record<string, { rows: number; minor: number }>;
  /** Rejected rows by reason. */
  reasons: Record<string, number>;
}

/** Counts what is in D1, compares it with what the files held, and stores the result with the day. */
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
         TOTAL(rows) FILTER (WHERE state = 'loaded') AS rows,
         TOTAL(rejected) FILTER (WHERE state = 'loaded') AS rejected
       FROM files WHERE day = ?1`,
    )
    .bind(day)
    .first<Report["files"] & { rows: number; rejected: number }>();
  if (!files) throw new Error("A count is one row.");
  const { rows, rejected, ...states } = files;
  const currencies = await db
    .prepare(
      `SELECT currency AS name, COUNT(*) AS rows, SUM(minor) AS minor FROM sales
       WHERE day = ?1 AND ${OF_LOADED_FILES} GROUP BY currency ORDER BY currency`,
    )
    .bind(day)
    .all<{ name: string; rows: number; minor: number }>();
  const reasons = await db
    .prepare(
      `SELECT reason AS name, COUNT(*) AS rows FROM rejects
       WHERE day = ?1 AND ${OF_LOADED_FILES} GROUP BY reason ORDER BY reason`,
    )
    .bind(day)
    .all<{ name: string; rows: number }>();

  // The files say what was read, the tables what has arrived. A difference is nothing that a retry could mend.
  const inTables = [sumOf(currencies.results), sumOf(reasons.results)];
  if (inTables.join() !== [rows, rejected].join()) {
    throw new NonRetryableError(
      `The books do not balance: ${rows} rows and ${rejected} rejects were read, ${inTables.join(" and ")} are in D1.`,
    );
  }
  return {
    day,
    files: states,
    rows,
    rejected,
    currencies: Object.fromEntries(currencies.results.map(({ name, ...sums }) => [name, sums])),
    reasons: Object.fromEntries(reasons.results.map(({ name, rows: count }) => [name, count])),
  };
}

const OF_LOADED_FILES =
  "file IN (SELECT file FROM files WHERE files.day = ?1 AND state = 'loaded')";

const sumOf = (groups: { rows: number }[]) => groups.reduce((sum, { rows }) => sum + rows, 0);
