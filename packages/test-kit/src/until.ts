/** Waiting for what will come. A test waits for a condition, and a time only ends what never comes. */
import { vi } from "vitest";

/** How long a test looks, and how often, in milliseconds: for `vi.waitUntil` and `vi.waitFor`. */
export const PATIENTLY = { timeout: 45_000, interval: 50 };

/** Will an instance of this status do nothing more by itself? */
export const isOver = (status: string | undefined): boolean =>
  ["complete", "errored", "terminated"].includes(status ?? "");

/**
 * Waits until an instance is over.
 *
 * @returns the status that it ended with
 */
export async function untilOver(instance: WorkflowInstance): Promise<InstanceStatus> {
  return vi.waitUntil(async () => {
    const status = await instance.status();
    return isOver(status.status) && status;
  }, PATIENTLY);
}
