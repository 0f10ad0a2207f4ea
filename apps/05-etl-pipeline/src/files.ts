import { instanceIdFor } from "@durable-lessons/idempotency";

/** A file as the run has listed it. Its etag says which version: the same key can hold another one tomorrow. */
export interface SourceFile {
  /** The key in R2 without the day's folder. */
  file: string;
  etag: string;
  bytes: number;
}

const MAX_NAME_LENGTH = 200;

/** The folder that the shops deliver a day into. */
export const incoming = (day: string) => `incoming/${day}/`;

/** Where a version of a file goes on its way to D1. The same version is written to the same place, however often. */
export const stagedKey = async (day: string, { file, etag }: SourceFile) =>
  `staged/${day}/${await shortName(file)}/${etag}.ndjson`;

/**
 * The name of a step that works on a file. Made of the file's own name: whatever else is on the list, it is the same.
 */
export const stepName = async (verb: string, { file }: SourceFile) =>
  `${verb} ${await shortName(file)}`;

/**
 * A key in R2 has up to 1,024 bytes. A step's name has at most 256 characters (Workflows documentation, "Limits"), and
 * the key of a staged file is longer than the file's own: a long name is hashed.
 */
async function shortName(file: string): Promise<string> {
  return file.length <= MAX_NAME_LENGTH ? file : instanceIdFor("file", file);
}
