import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import { bootId } from "./boot.ts";
import type { LabBindings, PitfallParams, RunnablePair, Runs } from "./env.ts";
import { exportedFunction, runVariantCode, watchedStep } from "./variant-code.ts";
import { variantEnv, withoutRun } from "./variant-env.ts";

/**
 * The Workflow class that runs every variant of a lesson's pairs: one binding, whatever the number of pairs.
 */
export function pitfallWorkflow<Env extends LabBindings>(pairs: readonly RunnablePair<Env>[]) {
  return class PitfallWorkflow extends WorkflowEntrypoint<Env, PitfallParams> {
    override async run(event: WorkflowEvent<PitfallParams>, step: WorkflowStep): Promise<unknown> {
      const { params, createdIn, ...scope } = event.payload;
      const pair = pairs.find(({ id }) => id === scope.pair);
      if (!pair) throw new Error(`There is no pair "${scope.pair}".`);
      const isBefore = "before" in pair && !scope.trial && createdIn === bootId();
      const load = (isBefore ? pair.before : undefined) ?? pair[scope.variant];
      const run = await exportedFunction<Runs<Env>["run"]>(load, "run", scope);
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
