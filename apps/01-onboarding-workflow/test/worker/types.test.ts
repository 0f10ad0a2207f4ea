import * as workers from "cloudflare:workers";
import { expect, expectTypeOf, test } from "vitest";

// Types are checked by `pnpm typecheck`: an expected error that does not come is an error there.

test("A19: Workflow is a global type, and no export of cloudflare:workers", () => {
  expectTypeOf(workers.env.ONBOARDING).toExtend<Workflow>();
  // @ts-expect-error: has no exported member 'Workflow'
  expectTypeOf<workers.Workflow>().toBeObject();
  expect(workers).not.toHaveProperty("Workflow");
});

test("A19: what one writes a Workflow with is exported there, and is no global type", () => {
  expectTypeOf<workers.WorkflowEntrypoint["run"]>().parameters.toEqualTypeOf<
    [Readonly<workers.WorkflowEvent<unknown>>, workers.WorkflowStep]
  >();
  // @ts-expect-error: cannot find name
  expectTypeOf<WorkflowEntrypoint>().toBeObject();
  // @ts-expect-error: cannot find name
  expectTypeOf<WorkflowEvent<unknown>>().toBeObject();
  // @ts-expect-error: cannot find name
  expectTypeOf<WorkflowStep>().toBeObject();
  expect(workers).toHaveProperty("WorkflowEntrypoint");
});
