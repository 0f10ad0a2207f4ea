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

/** The instance of this id, or null: the platform forgets one after its retention. */
export async function findInstance(
  workflow: Workflow,
  id: string,
): Promise<WorkflowInstance | null> {
  try {
    return await workflow.get(id);
  } catch (error) {
    if (error instanceof Error && error.message.includes("instance.not_found")) return null;
    throw error;
  }
}

/** The steps and waits of an instance so far, by name: `started`, `completed`, `errored` or `timed_out`. */
async function stepsOf(instance: WorkflowInstance): Promise<Record<string, string>> {
  using events = await instance.subscribe();
  const steps: Record<string, string> = {};
  for (;;) {
    const next = events.next();
    // A subscription waits for more, and nothing marks its present. But a stored event comes sooner than an answer to
    // status() (measured locally).
    const first = await Promise.race([next, instance.status().then(() => null)]);
    if (!first || first.done) return steps;
    const event = first.value;
    const [, outcome] = /^(?:step|wait)_(.+)$/.exec(event.type) ?? [];
    // The platform counts the steps of one name: "store draft-1".
    if (outcome && "stepName" in event) steps[event.stepName.replace(/-1$/, "")] = outcome;
  }
}
