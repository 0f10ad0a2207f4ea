import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { OrderRequest } from "../../schemas.ts";
import { stepsOf } from "./steps.ts";

export async function run(
  event: WorkflowEvent<OrderRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { reserve, charge, ship } = stepsOf(event, step, env);

  await reserve();

  const both = [charge(), ship()];
  // The first error ends the run: not before all of them have ended.
  await Promise.allSettled(both);
  await Promise.all(both);
}
