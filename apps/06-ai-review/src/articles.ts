import { NonRetryableError } from "cloudflare:workflows";
import { sha256 } from "./bytes.ts";
import { findDraft } from "./drafts.ts";

/** A row of the table `articles`. */
export interface ArticleRow {
  article_id: string;
  model: string;
  text: string;
  sha256: string;
  published_at: number;
}

/**
 * The approved text of a draft.
 *
 * @throws NonRetryableError where it is not, byte for byte, the one that was reviewed
 */
export async function approvedText(
  db: D1Database,
  draftId: string,
  reviewed: string,
): Promise<string> {
  const row = await findDraft(db, draftId);
  if (row?.state !== "approved" && row?.state !== "published")
    throw new NonRetryableError(`Draft ${draftId} is not approved.`);
  if (row.text === null || (await sha256(row.text)) !== reviewed)
    throw new NonRetryableError(`The text of draft ${draftId} is not the one that was reviewed.`);
  return row.text;
}

/**
 * Puts a draft that is approved among the articles, with the text that was checked: the row may hold another one by now.
 * The same again changes nothing.
 */
export async function insertArticle(
  db: D1Database,
  draftId: string,
  { text, sha256: reviewed }: { text: string; sha256: string },
): Promise<void> {
  await db.batch([
    db
      .prepare(
        `INSERT INTO articles (article_id, model, text, sha256, published_at)
         SELECT draft_id, model, ?2, ?3, ?4 FROM drafts
         WHERE draft_id = ?1 AND state = 'approved' ON CONFLICT DO NOTHING`,
      )
      .bind(draftId, text, reviewed, Date.now()),
    db
      .prepare(
        "UPDATE drafts SET state = 'published', reason = NULL WHERE draft_id = ?1 AND state = 'approved'",
      )
      .bind(draftId),
  ]);
}

/** Finds an article, or null. */
export const findArticle = (db: D1Database, articleId: string): Promise<ArticleRow | null> =>
  db.prepare("SELECT * FROM articles WHERE article_id = ?1").bind(articleId).first<ArticleRow>();
