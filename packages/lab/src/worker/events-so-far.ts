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
