import { createInstanceOnce, fingerprintOf, instanceIdFor } from "@durable-lessons/idempotency";
import { isOpen, runOf } from "./draft-run.ts";
import { type DraftRow, insertDraft } from "./drafts.ts";
import type { DraftRequest } from "./schemas.ts";

/** What became of a request for a draft. An obstacle says what stands in its way, and what to do. */
export type Requested = { obstacle: string } | { row: DraftRow; isNew: boolean };

/** Starts a draft, once: the row remembers it for longer than the platform remembers the instance. */
export async function requestDraft(env: Env, draft: DraftRequest): Promise<Requested> {
  const id = await instanceIdFor("draft", draft.draftId);
  const fingerprint = await fingerprintOf(draft);
  const { row, isNew } = await insertDraft(env.DB, { ...draft, instanceId: id, fingerprint });
  if (row.fingerprint !== fingerprint)
    return { obstacle: `There is another draft "${draft.draftId}". Choose a new id.` };
  if (row.state === "withdrawn")
    return {
      obstacle: `Draft "${draft.draftId}" was withdrawn: ${row.reason}. Choose a new id.`,
    };
  if (!isOpen(row)) return { row, isNew };

  const { instance, status, isStuck } = await runOf(env, row);
  // Also for a known row: the first request may have died between the row and the instance. A later run goes on from the row.
  if (!instance) await createInstanceOnce(env.DRAFTS, { id, params: draft });
  else if (isStuck)
    return {
      obstacle: `The run of draft "${draft.draftId}" is ${status}. POST /drafts/${draft.draftId}/restart goes on with it.`,
    };
  else if (status === "paused" || status === "waitingForPause")
    return {
      obstacle: `The run of draft "${draft.draftId}" is paused. It goes on with: wrangler workflows instances resume drafts ${id}`,
    };
  return { row, isNew };
}
