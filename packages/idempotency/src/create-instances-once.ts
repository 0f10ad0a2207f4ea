import { seen } from "./key.ts";

const MAX_INSTANCES = 100;
// The limit is 1 MiB of RPC message (Cloudflare docs, "Workflows: Workers API"). JSON is counted here, which can be less than
// half of it: a number such as 0.5 is 4 bytes with its comma, and 9 there.
const MAX_CHUNK_BYTES = 400_000;
// Measured locally.
const ALREADY_EXISTS_CODE = 10405;
const VALID_ID = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,99}$/;

export type InstanceOutcome =
  | { id: string; outcome: "created" | "existing" }
  /** `error` says why. If the platform could not be reached the instance may be there all the same: call it again. */
  | { id: string; outcome: "failed"; error: Error };

type NewInstance<P> = WorkflowInstanceCreateOptions<P> & { id: string };

/**
 * Starts many Workflow instances, however many: in chunks that the platform takes (at most 100 and 1 MiB each), one after
 * the other. The answer has one outcome for each instance, in the same order.
 *
 * An id that exists already, or is twice in the list, is a success: `existing`. Instances are reported one by one: an
 * invalid one does not keep the others from being started. Safe to repeat, as a whole, after any failure: what is there
 * already comes back as `existing`.
 *
 * Not guaranteed: see `createInstanceOnce`. The platform takes 100 creates a second for a Workflow and 300 for an account
 * (Cloudflare docs, "Workflows: Limits"); what it refuses comes back as `failed`.
 *
 * @param instances as for `Workflow.createBatch`, each with an id: take it from `instanceIdFor`. One without an id that is
 *   text comes back as `failed`, its `id` being what the missing one reads as, and the others are started
 */
export async function createInstancesOnce<P = unknown>(
  workflow: Workflow<P>,
  instances: readonly NewInstance<P>[],
): Promise<InstanceOutcome[]> {
  const outcomes = new Map<string, InstanceOutcome>();
  const valid: { instance: NewInstance<P>; bytes: number }[] = [];
  for (const instance of instances) {
    if (!hasId(instance) || outcomes.has(instance.id)) continue;
    try {
      valid.push({ instance, bytes: checkedBytes(instance) });
      outcomes.set(instance.id, { id: instance.id, outcome: "existing" });
    } catch (error) {
      outcomes.set(instance.id, failed(instance.id, error));
    }
  }

  for (const chunk of chunks(valid)) {
    for (const outcome of await createChunk(workflow, chunk)) outcomes.set(outcome.id, outcome);
  }

  const told = new Set<string>();
  return instances.map((instance): InstanceOutcome => {
    if (!hasId(instance)) return withoutId(instance);
    const { id } = instance;
    const outcome = outcomes.get(id) ?? failed(id, new Error("Nothing came back"));
    const again = told.has(id);
    told.add(id);
    return again && outcome.outcome === "created" ? { id, outcome: "existing" } : outcome;
  });
}

/** Whether there is an id at all: what came out of JSON may have none, whatever its type says. */
function hasId(instance: unknown): instance is { id: string } {
  return idOf(instance) !== "" && typeof idOf(instance) === "string";
}

function idOf(instance: unknown): unknown {
  return typeof instance === "object" && instance !== null && "id" in instance
    ? instance.id
    : undefined;
}

// `undefined` would pass for an id of nine letters, and a number for its digits.
function withoutId(instance: unknown): InstanceOutcome {
  const id = seen(idOf(instance));
  return failed(
    id,
    new TypeError(`An instance needs an id that is text and not empty: it is ${id}`),
  );
}

async function createChunk<P>(
  workflow: Workflow<P>,
  instances: NewInstance<P>[],
): Promise<InstanceOutcome[]> {
  try {
    const { errors } = await createTwice(workflow, instances);
    const byIndex = new Map(errors.map((error) => [error.index, error]));
    return instances.map(({ id }, index): InstanceOutcome => {
      const error = byIndex.get(index);
      if (error === undefined) return { id, outcome: "created" };
      if (error.code === ALREADY_EXISTS_CODE) return { id, outcome: "existing" };
      return failed(id, new Error(`(${error.code}) ${error.message}`));
    });
  } catch (error) {
    return instances.map(({ id }) => failed(id, error));
  }
}

// A connection may be lost after the instances were made: the second try then finds them.
async function createTwice<P>(workflow: Workflow<P>, instances: NewInstance<P>[]) {
  try {
    return await workflow.createBatch({ instances });
  } catch {
    return workflow.createBatch({ instances });
  }
}

function* chunks<P>(sized: readonly { instance: NewInstance<P>; bytes: number }[]) {
  let chunk: NewInstance<P>[] = [];
  let total = 0;
  for (const { instance, bytes } of sized) {
    if (chunk.length === MAX_INSTANCES || (chunk.length > 0 && total + bytes > MAX_CHUNK_BYTES)) {
      yield chunk;
      chunk = [];
      total = 0;
    }
    chunk.push(instance);
    total += bytes;
  }
  if (chunk.length > 0) yield chunk;
}

function checkedBytes<P>(instance: NewInstance<P>): number {
  if (!VALID_ID.test(instance.id)) {
    throw new TypeError(
      `"${instance.id}" is no Workflow instance id (letters, digits, "_" and "-", at most 100): use instanceIdFor`,
    );
  }
  // A function in the params would fail the whole chunk.
  return new TextEncoder().encode(JSON.stringify(structuredClone(instance))).length;
}

function failed(id: string, error: unknown): InstanceOutcome {
  return {
    id,
    outcome: "failed",
    error: error instanceof Error ? error : new Error(String(error)),
  };
}
