/** Most dead letters in one answer. */
const PAGE_SIZE = 100;

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

/** The dead letters that wait for a decision, the oldest first; or those that had theirs, the latest first. */
export async function listDeadLetters(db: D1Database, { settled }: { settled: boolean }) {
  const { results } = await db
    .prepare(
      settled
        ? "SELECT * FROM dead_letters WHERE settled_at IS NOT NULL ORDER BY settled_at DESC, id LIMIT ?1"
        : "SELECT * FROM dead_letters WHERE settled_at IS NULL ORDER BY stored_at, id LIMIT ?1",
    )
    .bind(PAGE_SIZE + 1)
    .all<DeadLetter>();
  return {
    deadLetters: results.slice(0, PAGE_SIZE).map((row) => ({
      id: row.id,
      signupId: row.signup_id,
      body: JSON.parse(row.body ?? "null") as unknown,
      reason: row.reason,
      attempts: row.attempts,
      storedAt: row.stored_at,
      settledAs: row.settled_as,
      settledBy: row.settled_by,
      settledAt: row.settled_at,
    })),
    more: results.length > PAGE_SIZE,
  };
}

/** The decision about a dead letter, or null where nobody has made one. */
export function settlementOf(row: DeadLetter): Settlement | null {
  const { settled_as: settledAs, settled_by: settledBy, settled_at: settledAt } = row;
  return settledAs && settledBy && settledAt ? { settledAs, settledBy, settledAt } : null;
}
