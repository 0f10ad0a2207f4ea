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
  await Promise.all([charge(), ship()]);
}
