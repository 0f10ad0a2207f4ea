import { createInstanceOnce, fingerprintOf, instanceIdFor } from "@durable-lessons/idempotency";
import { type DraftRow, insertDraft } from "./drafts.ts";
import type { DraftRequest } from "./schemas.ts";

/** What became of a request for a draft. */
export type Requested = { state: "conflict" } | { state: "known" | "new"; row: DraftRow };

/** Starts a draft, once: the row remembers it for longer than the platform remembers the instance. */
export async function requestDraft(env: Env, draft: DraftRequest): Promise<Requested> {
  const instanceId = await instanceIdFor("draft", draft.draftId);
  const fingerprint = await fingerprintOf(draft);
  const { row, isNew } = await insertDraft(env.DB, { ...draft, instanceId, fingerprint });
  if (row.fingerprint !== fingerprint) return { state: "conflict" };
  // Also for a known row: the first request may have died between the row and the instance.
  if (row.state === "received")
    await createInstanceOnce(env.DRAFTS, { id: instanceId, params: draft });
  return { state: isNew ? "new" : "known", row };
}
