import { NonRetryableError } from "cloudflare:workflows";
import { breathe } from "./breathe.ts";
import { type SourceFile, stagedKey } from "./files.ts";
import { splitLines } from "./lines.ts";

/**
 * Rows in one statement, and characters of their JSON, each of up to three bytes: D1 takes 2 MB for a parameter, and a
 * thousand statements in one invocation (D1 documentation, "Limits").
 */
const MAX_ROWS = 5000;
const MAX_CHARACTERS = 600_000;

/**
 * Loads a staged file into D1, some thousand rows at a time. All of it can be repeated: a row that is there already is
 * written again only where it differs.
 */
export async function loadFile({ FILES, DB }: Env, day: string, source: SourceFile, rows: number) {
  const object = await FILES.get(await stagedKey(day, source));
  if (!object) {
    // No retry brings it back, but a restart of the run does.
    throw new NonRetryableError(`The staged file of ${source.file} is gone: restart the run.`);
  }
  await DB.prepare("UPDATE files SET loaded_etag = etag WHERE day = ?1 AND file = ?2")
    .bind(day, source.file)
    .run();
  const lines = object.body.pipeThrough(new TextDecoderStream()).pipeThrough(splitLines());
  for await (const batch of batches(lines)) {
    await loadRows(DB, day, source.file, batch);
    await breathe();
  }

  const result = await DB.prepare(
    `UPDATE files SET state = 'loaded',
       rows = ?3 - (SELECT COUNT(*) FROM rejects WHERE day = ?1 AND file = ?2 AND is_duplicate),
       rejected = (SELECT COUNT(*) FROM rejects WHERE day = ?1 AND file = ?2)
     WHERE day = ?1 AND file = ?2 RETURNING rows, rejected`,
  )
    .bind(day, source.file, rows)
    .first<{ rows: number; rejected: number }>();
  if (!result) throw new Error(`The file ${source.file} of ${day} is not in the table of files.`);
  return result;
}

/** Lists of lines that are small enough for one statement. */
export async function* batches(lines: AsyncIterable<string[]>): AsyncGenerator<string[]> {
  let batch: string[] = [];
  let characters = 0;
  for await (const some of lines) {
    for (const line of some) {
      if (line === "") continue;
      if (batch.length === MAX_ROWS || characters + line.length > MAX_CHARACTERS) {
        yield batch;
        batch = [];
        characters = 0;
      }
      batch.push(line);
      characters += line.length;
    }
  }
  if (batch.length > 0) yield batch;
}

/** One transaction, and one parameter for all rows: a statement takes a hundred of them at most. */
async function loadRows(db: D1Database, day: string, file: string, lines: string[]): Promise<void> {
  // Every line is JSON already.
  const json = `[${lines.join()}]`;
  await db.batch([
    // A sale_id belongs to the line that had it first. Any other row with the same one is a duplicate, see below.
    db
      .prepare(
        `INSERT INTO sales (day, sale_id, file, line, sold_at, shop, currency, minor)
         SELECT ?1, value ->> '$.id', ?2, value ->> '$.line', value ->> '$.at', value ->> '$.shop',
           value ->> '$.currency', value ->> '$.minor'
         FROM json_each(?3) WHERE value ->> '$.reason' IS NULL
         ON CONFLICT (day, sale_id) DO UPDATE SET sold_at = excluded.sold_at, shop = excluded.shop,
           currency = excluded.currency, minor = excluded.minor
         WHERE (file, line) = (excluded.file, excluded.line)
           AND (sold_at, shop, currency, minor)
             <> (excluded.sold_at, excluded.shop, excluded.currency, excluded.minor)`,
      )
      .bind(day, file, json),
    db
      .prepare(
        `INSERT INTO rejects (day, file, line, reason, text, is_duplicate)
         SELECT ?1, ?2, value ->> '$.line', value ->> '$.reason', value ->> '$.text', 0
         FROM json_each(?3) WHERE value ->> '$.reason' IS NOT NULL
         UNION ALL
         SELECT ?1, ?2, value ->> '$.line', 'the sale_id is taken',
           sale_id || ' is in ' || sales.file || ', line ' || sales.line, 1
         FROM json_each(?3) CROSS JOIN sales ON day = ?1 AND sale_id = value ->> '$.id'
         WHERE (sales.file, sales.line) <> (?2, value ->> '$.line')
         ON CONFLICT DO NOTHING`,
      )
      .bind(day, file, json),
  ]);
}
