import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";

/** What the cron says of itself: `scheduled` gets the same. */
export type Firing = { cron: string; scheduledTime: number };

/** What both variants start. */
export async function run(_event: WorkflowEvent<Firing>, step: WorkflowStep, env: OutsideWorld) {
  await step.do("load", () => env.warehouse.load({ file: "sales.csv", rows: 3 }));
}
