/** Most dead letters in one answer, and what is answered where nobody says how many. */
export const MAX_PAGE = 1000;
const PAGE = 100;

/** What a person has decided about a dead letter. */
export interface Settlement {
  settledAs: "redriven" | "discarded";
  settledBy: string;
  settledAt: number;
}

/** A row of the table. */
export interface DeadLetter {
  id: string;
  signup_id: string | null;
  body: string | null;
  reason: string;
  attempts: number | null;
  stored_at: number;
  settled_as: Settlement["settledAs"] | null;
  settled_by: string | null;
  settled_at: number | null;
}

/** Which dead letters are asked for. */
export interface Selection {
  /** Those that wait for a decision, the oldest first; or those that had theirs, the oldest decision first. */
  settled?: boolean;
  /** Only those that died of this. */
  reason?: string | undefined;
  limit?: number;
  /** Goes on after this one: the `next` of the page before. */
  after?: { at: number; id: string };
}

/** A page of dead letters; `next` is null where there are no more. */
export async function listDeadLetters(
  db: D1Database,
  { settled = false, reason, limit = PAGE, after = { at: 0, id: "" } }: Selection,
) {
  const time = settled ? "settled_at" : "stored_at";
  const { results } = await db
    .prepare(
      `SELECT * FROM dead_letters
       WHERE settled_at IS ${settled ? "NOT NULL" : "NULL"} AND (${time}, id) > (?1, ?2)
         ${reason === undefined ? "" : "AND reason = ?4"}
       ORDER BY ${time}, id LIMIT ?3`,
    )
    .bind(after.at, after.id, limit + 1, ...(reason === undefined ? [] : [reason]))
    .all<DeadLetter>();
  const page = results.slice(0, limit);
  const last = results.length > limit ? page.at(-1) : undefined;
  return {
    deadLetters: page.map(viewOf),
    next: last ? { at: settled ? last.settled_at : last.stored_at, id: last.id } : null,
  };
}

/** The ids of the oldest letters that wait and have died of this, {@link MAX_PAGE} at most; `more` where there are others. */
export async function idsOf(
  db: D1Database,
  reason: string,
): Promise<{ ids: string[]; more: boolean }> {
  const { results } = await db
    .prepare(
      `SELECT id FROM dead_letters WHERE settled_at IS NULL AND reason = ?1
       ORDER BY stored_at, id LIMIT ?2`,
    )
    .bind(reason, MAX_PAGE + 1)
    .all<{ id: string }>();
  const ids = results.map(({ id }) => id);
  return { ids: ids.slice(0, MAX_PAGE), more: ids.length > MAX_PAGE };
}

/** What the letters that wait have died of, the most frequent first. */
export async function reasonsOf(db: D1Database): Promise<{ reason: string; count: number }[]> {
  const { results } = await db
    .prepare(
      `SELECT reason, COUNT(*) AS count FROM dead_letters WHERE settled_at IS NULL
       GROUP BY reason ORDER BY count DESC, reason LIMIT 100`,
    )
    .all<{ reason: string; count: number }>();
  return results;
}

function viewOf(row: DeadLetter) {
  return {
    id: row.id,
    signupId: row.signup_id,
    ...bodyOf(row),
    reason: row.reason,
    attempts: row.attempts,
    storedAt: row.stored_at,
    settledAs: row.settled_as,
    settledBy: row.settled_by,
    settledAt: row.settled_at,
  };
}

/** The body of a letter. One that is no JSON, which only a hand can have written, is shown as it stands and marked. */
export function bodyOf({ body }: DeadLetter): { body: unknown; isReadable: boolean } {
  try {
    return { body: JSON.parse(body ?? "null") as unknown, isReadable: true };
  } catch {
    return { body, isReadable: false };
  }
}

/** The decision about a dead letter, or null where nobody has made one. */
export function settlementOf(row: DeadLetter): Settlement | null {
  const { settled_as: settledAs, settled_by: settledBy, settled_at: settledAt } = row;
  return settledAs && settledBy && settledAt ? { settledAs, settledBy, settledAt } : null;
}
