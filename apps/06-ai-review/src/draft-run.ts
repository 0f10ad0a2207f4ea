import { findInstance } from "@durable-lessons/worker-helpers/instances";
import { type DraftRow, findDraft } from "./drafts.ts";

/** States of a draft for which something is still to be done. */
const OPEN = new Set<DraftRow["state"]>(["received", "in review", "approved"]);

/** Is anything still to be done for a draft? */
export const isOpen = ({ state }: DraftRow): boolean => OPEN.has(state);

/**
 * The run of a draft as the platform sees it, and the row as it stands then. `forgotten`: there is no run yet, or it is past its
 * retention. A draft is stuck if work is left, but no run is there to do it.
 */
export async function runOf({ DB, DRAFTS }: Pick<Env, "DB" | "DRAFTS">, known: DraftRow) {
  const instance = await findInstance(DRAFTS, known.instance_id);
  const status = instance ? (await instance.status()).status : "forgotten";
  // In this order: a run that has ended well has written it into the row before.
  const row = (await findDraft(DB, known.draft_id)) ?? known;
  const isOver = ["forgotten", "complete", "errored", "terminated"].includes(status);
  return { instance, status, row, isStuck: isOver && isOpen(row) };
}

/** Runs an open draft once more whose run has failed or was terminated; or says why not. */
export async function restartDraft(env: Env, known: DraftRow): Promise<string | null> {
  const id = known.draft_id;
  const { instance, status, row, isStuck } = await runOf(env, known);
  if (!isOpen(row)) return `Draft "${id}" is ${row.state}: nothing more is done for it.`;
  if (!instance) {
    return `The platform has no run of draft "${id}" any more. POST /drafts, with the same content, makes a new one.`;
  }
  if (!isStuck) return `The run of draft "${id}" is ${status}: there is nothing to restart.`;
  await instance.restart();
  return null;
}
