import {
  type Fault,
  meetFault,
  neverAnswer,
  observe,
  outsideWorld,
  ProviderError,
} from "@durable-lessons/outside-world";
import { bootId } from "./boot.ts";
import type { LabBindings, RunScope, VariantEnv } from "./env.ts";
import { runQueue } from "./run-queue.ts";

/**
 * The `env` of a variant: see {@link VariantEnv}.
 *
 * @param queue the binding of the pair's queue, if it has one
 */
export function variantEnv<Env extends LabBindings>(
  env: Env,
  scope: RunScope,
  queue?: string,
): VariantEnv<Env> {
  return {
    ...env,
    ...outsideWorld(env, scope.run),
    WORKFLOW: runWorkflow(env, scope),
    QUEUE: runQueue(env, scope, queue),
  };
}

/** What `createBatch` says of an instance that it did not create. */
const REFUSED = { code: 10_000, message: "[simulated] workflow.create: rate_limited" };

/** An instance id that no other run can have. */
const withRun = (run: string, id: string) => `${run}_${id}`;

/** The variant's own id of an instance. */
export const withoutRun = (run: string, id: string) =>
  id.startsWith(`${run}_`) ? id.slice(run.length + 1) : id;

/**
 * The lab's `PitfallWorkflow` as one run sees it: ids of other runs do not exist. Every instance that it creates
 * is an observation, so that the lab can wait for it and wake it.
 */
function runWorkflow(env: LabBindings, scope: RunScope): Workflow {
  const { run } = scope;
  /** One call that creates, refused where the run's faults say so. */
  const creating = async <T>(
    asked: unknown,
    create: (fault: Fault) => Promise<T>,
    idsOf: (result: T) => string[],
  ) => {
    let ids: string[] = [];
    try {
      const fault = await meetFault(env.WORLD, run, "workflow.create", asked);
      const result = await create(fault);
      ids = idsOf(result);
      if (fault === "fail-after-effect") {
        throw new ProviderError("workflow.create", "connection_reset", "the answer was lost");
      }
      if (fault === "hang-after-effect") await neverAnswer(env.WORLD, run, "workflow.create");
      return result;
    } finally {
      await observe(env.WORLD, run, [
        { kind: "workflow.create-called", detail: ids.length },
        ...ids.map((detail) => ({ kind: "workflow.created", detail })),
      ]);
    }
  };
  const scoped = (options: WorkflowInstanceCreateOptions = {}) => ({
    ...options,
    id: withRun(run, options.id ?? crypto.randomUUID()),
    params: { ...scope, createdIn: bootId(), params: options.params },
  });
  const handle = (instance: WorkflowInstance): WorkflowInstance => ({
    id: withoutRun(run, instance.id),
    delete: () => instance.delete(),
    pause: () => instance.pause(),
    restart: (options) => instance.restart(options),
    resume: () => instance.resume(),
    sendEvent: (event) => instance.sendEvent(event),
    status: () => instance.status(),
    subscribe: (options) => instance.subscribe(options),
    terminate: (options) => instance.terminate(options),
  });

  async function createBatch(
    options: WorkflowBatchCreateOptions,
  ): Promise<WorkflowBatchCreateResult>;
  async function createBatch(options: WorkflowInstanceCreateOptions[]): Promise<WorkflowInstance[]>;
  async function createBatch(
    options: WorkflowBatchCreateOptions | WorkflowInstanceCreateOptions[],
  ): Promise<WorkflowBatchCreateResult | WorkflowInstance[]> {
    if (Array.isArray(options)) {
      const instances = await creating(
        options,
        () => env.PITFALLS.createBatch(options.map(scoped)),
        (list) => list.map((instance) => instance.id),
      );
      return instances.map(handle);
    }
    const wanted =
      options.instances ??
      Array.from({ length: options.count }, () => ({ params: options.params }));
    const result = await creating(
      wanted,
      async (fault) => {
        const refused = fault === "report-errors" ? wanted.slice(-1).map(scoped) : [];
        const taken = wanted.slice(0, wanted.length - refused.length).map(scoped);
        // The platform takes no empty list.
        const { created, errors } =
          taken.length > 0
            ? await env.PITFALLS.createBatch({ instances: taken })
            : { created: [], errors: [] };
        const reported = refused.map(({ id }) => ({ ...REFUSED, index: taken.length, id }));
        return { created, errors: [...errors, ...reported] };
      },
      ({ created }) => created.map((instance) => instance.id),
    );
    return {
      created: result.created.map(handle),
      errors: result.errors.map(({ id, ...error }) =>
        id === undefined ? error : { ...error, id: withoutRun(run, id) },
      ),
    };
  }

  return {
    async create(options) {
      return handle(
        await creating(
          options,
          () => env.PITFALLS.create(scoped(options)),
          (instance) => [instance.id],
        ),
      );
    },
    async get(id) {
      return handle(await env.PITFALLS.get(withRun(run, id)));
    },
    createBatch,
    async deleteBatch(ids) {
      const result = await env.PITFALLS.deleteBatch(ids.map((id) => withRun(run, id)));
      const mine = <T extends { id: string }>(entry: T) => ({
        ...entry,
        id: withoutRun(run, entry.id),
      });
      return { deleted: result.deleted.map(mine), errors: result.errors.map(mine) };
    },
  };
}
