import type { WorkflowStep } from "cloudflare:workers";
import { isTimeout } from "../../errors.ts";

/** Waits a second for an answer. */
export async function answerTo(step: WorkflowStep, name: string, type: string): Promise<unknown> {
  try {
    const { payload } = await step.waitForEvent(name, { type, timeout: 1000 });
    return payload;
  } catch (error) {
    if (!isTimeout(error)) throw error;
    return undefined;
  }
}
