import { eventsSoFar, stepNameOf } from "@durable-lessons/worker-helpers/instances";

/** One step of an instance, as the platform reports it. */
export interface StepView {
  name: string;
  kind: "do" | "rollback" | "sleep" | "wait";
  state: "complete" | "errored" | "running" | "timed out";
  attempts: {
    attempt: number;
    error?: { name: string; message: string };
    /** Until the next attempt. */
    retryDelayMs?: number;
  }[];
}

const KINDS: Record<string, StepView["kind"]> = {
  step: "do",
  attempt: "do",
  sleep: "sleep",
  wait: "wait",
};
const STATES: Record<string, StepView["state"]> = {
  started: "running",
  completed: "complete",
  errored: "errored",
  timed_out: "timed out",
};

/** The steps of an instance so far, with their attempts. */
export async function stepsOf(instance: WorkflowInstance): Promise<StepView[]> {
  const steps = new Map<string, StepView>();
  for (const event of await eventsSoFar(instance)) {
    if (!("stepName" in event)) continue;
    const isRollback = event.type.startsWith("rollback_");
    const [subject = "", ...rest] = event.type.replace("rollback_", "").split("_");
    const kind = isRollback ? "rollback" : (KINDS[subject] ?? "do");
    const state = STATES[rest.join("_")] ?? "running";
    const name = stepNameOf(event);
    const step = steps.get(`${kind} ${name}`) ?? { name, kind, state, attempts: [] };
    steps.set(`${kind} ${name}`, step);
    if (subject !== "attempt") {
      step.state = state;
    } else if ("attempt" in event) {
      const { attempt } = event;
      const known = step.attempts.find((candidate) => candidate.attempt === attempt);
      const entry = known ?? { attempt };
      if (!known) step.attempts.push(entry);
      if ("error" in event) entry.error = event.error;
      if ("retryDelayMs" in event) entry.retryDelayMs = event.retryDelayMs;
    }
  }
  return [...steps.values()];
}
