import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import type { LabBindings, PitfallParams, RunnablePair } from "./env.ts";
import { variantEnv, withoutRun } from "./variant-env.ts";

/**
 * The Workflow class that runs every variant of a lesson's pairs: one binding, whatever the number of pairs.
 *
 * @example
 * ```ts
 * export const PitfallWorkflow = pitfallWorkflow(pairs);
 * ```
 */
export function pitfallWorkflow<Env extends LabBindings>(pairs: readonly RunnablePair<Env>[]) {
  return class PitfallWorkflow extends WorkflowEntrypoint<Env, PitfallParams> {
    override async run(event: WorkflowEvent<PitfallParams>, step: WorkflowStep): Promise<unknown> {
      const { params, ...scope } = event.payload;
      const module = await pairs.find((pair) => pair.id === scope.pair)?.[scope.variant]();
      if (!module || !("run" in module) || !module.run) {
        throw new Error(`The pair "${scope.pair}" has no run() in its ${scope.variant}.`);
      }
      const own = {
        ...event,
        payload: params,
        instanceId: withoutRun(scope.run, event.instanceId),
      };
      return module.run(own, step, variantEnv(this.env, scope));
    }
  };
}
