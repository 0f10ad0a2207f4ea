import { eventsSoFar, stepNameOf } from "@durable-lessons/worker-helpers/instances";
import type { DraftRow } from "./drafts.ts";

/** What `GET /drafts/:id` tells: how far the draft is, and what stands in its way. */
export async function viewOf(row: DraftRow, instance: WorkflowInstance | null) {
  const { status, error = null } = (await instance?.status()) ?? {};
  return {
    draftId: row.draft_id,
    state: row.state,
    model: row.model,
    sha256: row.sha256,
    expiresAt: timeOf(row.expires_at),
    remindedAt: timeOf(row.reminded_at),
    decidedAt: timeOf(row.decided_at),
    reason: row.reason,
    createdAt: timeOf(row.created_at),
    article: row.state === "published" ? `/articles/${row.draft_id}` : null,
    instance: instance && { id: instance.id, status, error },
    steps: instance ? await stepsOf(instance) : {},
  };
}

const timeOf = (ms: number | null) => ms && new Date(ms).toISOString();

/** The steps and waits of an instance so far, by name: `started`, `completed`, `errored` or `timed_out`. */
async function stepsOf(instance: WorkflowInstance): Promise<Record<string, string>> {
  const steps: Record<string, string> = {};
  for (const event of await eventsSoFar(instance)) {
    const [, outcome] = /^(?:step|wait)_(.+)$/.exec(event.type) ?? [];
    if (outcome && "stepName" in event) steps[stepNameOf(event)] = outcome;
  }
  return steps;
}
