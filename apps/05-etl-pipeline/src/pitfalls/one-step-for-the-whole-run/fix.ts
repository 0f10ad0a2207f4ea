import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";

const thrice = { retries: { limit: 2, delay: 100 } };

export async function run(event: WorkflowEvent<unknown>, step: WorkflowStep, env: OutsideWorld) {
  const rows = await step.do("extract", thrice, async () => {
    const { text } = await env.source.read({ file: "sales.csv", bytes: 500 });
    return text.split("\n").length;
  });
  await step.do("load", thrice, (ctx) =>
    env.warehouse.load({ file: "sales.csv", rows, key: stepKey(event, ctx) }),
  );
}
