import { NonRetryableError } from "cloudflare:workflows";
import { sha256 } from "./bytes.ts";

/** The outcome of a draft, decided by a person or by a timeout. */
export type Decision = "approved" | "rejected" | "closed";

/** A row of the table `drafts`. */
export interface DraftRow {
  draft_id: string;
  instance_id: string;
  fingerprint: string;
  reviewer: string;
  state: "received" | "in review" | "published" | "withdrawn" | Decision;
  model: string | null;
  text: string | null;
  sha256: string | null;
  expires_at: number | null;
  reminded_at: number | null;
  decided_at: number | null;
  reason: string | null;
  created_at: number;
}

/** A text, and who wrote it. */
export interface Text {
  model: string;
  text: string;
}

/** Stores the draft before any work on it. */
export async function insertDraft(
  db: D1Database,
  draft: { draftId: string; reviewer: string; instanceId: string; fingerprint: string },
): Promise<{ row: DraftRow; isNew: boolean }> {
  const inserted = await db
    .prepare(
      `INSERT INTO drafts (draft_id, reviewer, instance_id, fingerprint, created_at)
       VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (draft_id) DO NOTHING RETURNING *`,
    )
    .bind(draft.draftId, draft.reviewer, draft.instanceId, draft.fingerprint, Date.now())
    .first<DraftRow>();
  return { row: inserted ?? (await readDraft(db, draft.draftId)), isNew: inserted !== null };
}

/** Finds a draft, or null. */
export const findDraft = (db: D1Database, draftId: string): Promise<DraftRow | null> =>
  db.prepare("SELECT * FROM drafts WHERE draft_id = ?1").bind(draftId).first<DraftRow>();

async function readDraft(db: D1Database, draftId: string): Promise<DraftRow> {
  const row = await findDraft(db, draftId);
  if (!row) throw new NonRetryableError(`There is no draft "${draftId}" any more.`);
  return row;
}

/** The text that a draft has already, or null. */
export async function findText(db: D1Database, draftId: string): Promise<Text | null> {
  const { model, text } = await readDraft(db, draftId);
  return model !== null && text !== null ? { model, text } : null;
}

/** Gives a draft its text and opens the review. The first text stays: nothing may change under a reviewer's eyes. */
export async function storeText(
  db: D1Database,
  draftId: string,
  { model, text }: Text,
  reviewSeconds: number,
): Promise<{ state: string; sha256: string; expiresAt: number; isReminded: boolean }> {
  await db
    .prepare(
      `UPDATE drafts SET state = 'in review', model = ?2, text = ?3, sha256 = ?4, expires_at = ?5
       WHERE draft_id = ?1 AND state = 'received'`,
    )
    .bind(draftId, model, text, await sha256(text), Date.now() + reviewSeconds * 1000)
    .run();
  const row = await readDraft(db, draftId);
  if (row.sha256 === null || row.expires_at === null)
    throw new NonRetryableError(`Draft ${draftId} is ${row.state}: nothing more is done for it.`);
  return {
    state: row.state,
    sha256: row.sha256,
    expiresAt: row.expires_at,
    isReminded: row.reminded_at !== null,
  };
}

/** Notes that the reviewer is reminded; false where there is nothing left to decide. */
export async function startReminder(db: D1Database, draftId: string): Promise<boolean> {
  const { meta } = await db
    .prepare(
      `UPDATE drafts SET reminded_at = COALESCE(reminded_at, ?2)
       WHERE draft_id = ?1 AND state = 'in review'`,
    )
    .bind(draftId, Date.now())
    .run();
  return meta.changes === 1;
}

/** Takes the first decision about this version of a draft; null for every later one. */
export const claimReview = (
  db: D1Database,
  { draft_id, sha256: reviewed }: DraftRow,
  decision: Decision,
): Promise<DraftRow | null> =>
  db
    .prepare(
      `UPDATE drafts SET state = ?3, decided_at = ?4
       WHERE draft_id = ?1 AND sha256 = ?2 AND state = 'in review' RETURNING *`,
    )
    .bind(draft_id, reviewed, decision, Date.now())
    .first<DraftRow>();

/** Closes a draft without a decision, and returns its state. The same again changes nothing. */
export async function closeReview(db: D1Database, draftId: string): Promise<string> {
  await db
    .prepare(
      `UPDATE drafts SET state = 'closed', decided_at = ?2
       WHERE draft_id = ?1 AND state = 'in review'`,
    )
    .bind(draftId, Date.now())
    .run();
  return (await readDraft(db, draftId)).state;
}

/** Records why a draft's run has failed, and withdraws the draft unless it was decided. */
export async function failDraft(db: D1Database, draftId: string, reason: string): Promise<void> {
  await db
    .prepare(
      `UPDATE drafts SET reason = ?2,
         decided_at = iif(state = 'approved', decided_at, ?3),
         state = iif(state = 'approved', state, 'withdrawn')
       WHERE draft_id = ?1 AND state IN ('received', 'in review', 'approved')`,
    )
    .bind(draftId, reason, Date.now())
    .run();
}
