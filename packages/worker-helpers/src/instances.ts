/** How lessons and the lab look at a Workflow instance. */

/** The instance of this id, or null: there is none yet, or the platform has forgotten it after its retention. */
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

/**
 * What the platform has told of an instance until now. A subscription to one that is not over waits for more, and nothing
 * marks its present: so with every event the instance is asked for its status too, and once that answer is there first,
 * there is no event left (measured locally: a stored event always comes first).
 */
export async function eventsSoFar(instance: WorkflowInstance): Promise<WorkflowInstanceEvent[]> {
  using subscription = await instance.subscribe();
  const events: WorkflowInstanceEvent[] = [];
  for (;;) {
    const next = subscription.next();
    const first = await Promise.race([next, instance.status().then(() => null)]);
    if (!first || first.done) return events;
    events.push(first.value);
  }
}

/** A step's name as the Workflow gave it. The platform counts the steps of one name: "ship parcel-1". */
export const stepNameOf = ({ stepName }: { stepName: string }): string =>
  stepName.replace(/-1$/, "");
