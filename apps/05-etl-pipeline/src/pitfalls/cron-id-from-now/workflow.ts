import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import { body, identifier } from "@durable-lessons/types/fields";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import * as v from "valibot";

/** What the cron says of itself: `scheduled` gets the same. */
export const firingOfCron = body({
  cron: identifier("cron"),
  scheduledTime: v.pipe(
    v.number("scheduledTime must be a number"),
    v.integer("scheduledTime must be milliseconds"),
  ),
});
type Firing = v.InferOutput<typeof firingOfCron>;

/** What both variants start. */
export async function run(event: WorkflowEvent<Firing>, step: WorkflowStep, env: OutsideWorld) {
  await step.do("load", (ctx) =>
    env.warehouse.load({ file: "sales.csv", rows: 3, key: stepKey(event, ctx) }),
  );
}
