/** A row that was not loaded, and why. */
export interface Reject {
  file: string;
  line: number;
  reason: string;
  /** How the row begins; of a duplicate, who has its sale_id. */
  text: string;
}

/** Most rejects in one answer. */
const MAX_REJECTS = 1000;

/** A page of a day's rejects in the order of files and lines, and where the next one is, if there may be one. */
export async function rejectsOf(
  db: D1Database,
  day: string,
  { after, limit }: { after: { file: string; line: number }; limit: number },
): Promise<{ rejects: Reject[]; next: string | null }> {
  const most = Math.min(Math.max(limit, 1), MAX_REJECTS);
  const { results } = await db
    .prepare(
      `SELECT file, line, reason, text FROM rejects
       WHERE day = ?1 AND (file, line) > (?2, ?3) ORDER BY file, line LIMIT ?4`,
    )
    .bind(day, after.file, after.line, most)
    .all<Reject>();
  const last = results.length === most ? results.at(-1) : undefined;
  if (!last) return { rejects: results, next: null };
  const query = new URLSearchParams({
    file: last.file,
    line: String(last.line),
    limit: String(most),
  });
  return { rejects: results, next: `/runs/${day}/rejects?${query.toString()}` };
}
