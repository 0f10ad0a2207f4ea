import { line } from "@durable-lessons/types/fields";
import * as v from "valibot";
import { incoming, type SourceFile } from "./files.ts";

/** Files in one step. A key has up to 1,024 bytes, a step's result up to 1 MiB: 500 of the longest fit. */
export const PAGE_SIZE = 500;

/** R2 documentation, "Limits". */
const MAX_KEY_BYTES = 1024;

/** A part of the list, and the key after which the next one begins, if there is more. */
export interface Page {
  files: SourceFile[];
  next: string | null;
}

/** Lists a part of a day's files, and notes them in D1. Only what is on this list is read by the run. */
export async function listPage(
  { FILES, DB }: Env,
  day: string,
  after: string | null,
): Promise<Page> {
  const prefix = incoming(day);
  // After a key, not by R2's cursor: a key is never out of date.
  const listed = await FILES.list({
    prefix,
    limit: PAGE_SIZE,
    ...(after === null ? {} : { startAfter: after }),
  });
  const all = listed.objects.map(({ key, etag, size }) => {
    const file = key.slice(prefix.length);
    return { file, etag, bytes: size, reason: obstacleTo(file) };
  });
  await DB.prepare(
    `INSERT INTO files (day, file, etag, bytes, state, reason)
       SELECT ?1, value ->> '$.file', value ->> '$.etag', value ->> '$.bytes',
         iif(value ->> '$.reason' IS NULL, 'listed', 'skipped'), value ->> '$.reason'
       FROM json_each(?2) WHERE true
       ON CONFLICT (day, file) DO UPDATE SET etag = excluded.etag, bytes = excluded.bytes,
         state = excluded.state, reason = excluded.reason, rows = 0, rejected = 0`,
  )
    .bind(day, JSON.stringify(all))
    .run();
  const files = all
    .filter(({ reason }) => reason === null)
    .map(({ file, etag, bytes }) => ({ file, etag, bytes }));
  const last = listed.objects.at(-1);
  return { files, next: listed.truncated && last ? last.key : null };
}

/** A file's name is made the name of a step, which is one line: with any other name the run would end, with all its files. */
const fileName = v.pipe(line("its name", MAX_KEY_BYTES), v.regex(/\.csv$/i, "it is no .csv file"));

/** Why a file cannot be read, by its name alone, or null. */
function obstacleTo(file: string): string | null {
  const { issues } = v.safeParse(fileName, file, { abortPipeEarly: true });
  return issues?.[0].message ?? null;
}
