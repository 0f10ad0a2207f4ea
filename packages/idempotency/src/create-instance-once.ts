import { isAlreadyExists } from "./already-exists.ts";

/** What `createInstanceOnce` found or made. */
export interface StartedInstance {
  instance: WorkflowInstance;
  /** Whether this call created the instance. */
  created: boolean;
}

/**
 * Starts a Workflow instance, or returns the one that has this id already. Take the id from `instanceIdFor`.
 *
 * Safe to repeat: after a timeout or a lost connection call it again with the same id.
 *
 * `created: false` means that an instance of this id was there, whoever started it, this caller's own earlier and
 * seemingly failed call included. The instance found keeps its own params: these are not compared, and it may be
 * finished or failed. Look at `instance.status()`, and `restart()` it if that is what you want.
 *
 * Not guaranteed:
 * - an id is free again after the instance's retention or `delete()`, and the Workflow then runs a second time;
 * - truly concurrent calls all get `created: true` on the local engine, with one run (measured locally); production
 *   documents that `create` throws.
 *
 * @param options as for `Workflow.create`, with an id
 * @throws what `create` or `get` throws, unless it is the platform's `instance.already_exists`
 */
export async function createInstanceOnce<P = unknown>(
  workflow: Workflow<P>,
  options: WorkflowInstanceCreateOptions<P> & { id: string },
): Promise<StartedInstance> {
  try {
    return { instance: await workflow.create(options), created: true };
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return { instance: await workflow.get(options.id), created: false };
  }
}
