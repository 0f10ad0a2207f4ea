import type { Observation } from "@durable-lessons/outside-world";

/** Is every message settled that a variant has sent? */
export function isQueueEmpty(observations: Observation[]): boolean {
  const settled = new Set(settledMessages(observations));
  return observations.every(
    ({ kind, detail }) => kind !== "message.sent" || settled.has(Number(detail)),
  );
}

/** The indexes of the messages that were acked, or came to the dead letter queue, each as often as it was. */
export function settledMessages(observations: Observation[]): number[] {
  return observations
    .filter(({ kind }) => kind === "message.acked" || kind === "message.dead-lettered")
    .map(({ detail }) => Number(detail));
}

/** The ids of the instances that a variant has created, less those that have expired. */
export function observedInstanceIds(observations: Observation[]): string[] {
  const ids = new Set<string>();
  for (const { kind, detail } of observations) {
    if (kind === "workflow.created") ids.add(String(detail));
    if (kind === "workflow.expired") ids.delete(String(detail));
  }
  return [...ids];
}
