import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import type { LabBindings, PitfallParams, RunnablePair, Runs } from "./env.ts";
import { exportedFunction, runVariantCode, watchedStep } from "./variant-code.ts";
import { variantEnv, withoutRun } from "./variant-env.ts";

/**
 * The Workflow class that runs every variant of a lesson's pairs: one binding, whatever the number of pairs.
 */
export function pitfallWorkflow<Env extends LabBindings>(pairs: readonly RunnablePair<Env>[]) {
  return class PitfallWorkflow extends WorkflowEntrypoint<Env, PitfallParams> {
    override async run(event: WorkflowEvent<PitfallParams>, step: WorkflowStep): Promise<unknown> {
      const { params, ...scope } = event.payload;
      const pair = pairs.find(({ id }) => id === scope.pair);
      if (!pair) throw new Error(`There is no pair "${scope.pair}".`);
      const run = await exportedFunction<Runs<Env>["run"]>(pair[scope.variant], "run", scope);
      const own = {
        ...event,
        payload: params,
        instanceId: withoutRun(scope.run, event.instanceId),
      };
      return runVariantCode(scope, () =>
        run(own, watchedStep(step, scope), variantEnv(this.env, scope)),
      );
    }
  };
}
