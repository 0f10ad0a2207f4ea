import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import { countOver1MiB, TWO_MIB } from "./size.ts";

export async function run(
  event: WorkflowEvent<{ key: string }>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const extracted = await step.do("extract", async () => {
    const { text } = await env.source.read({ file: "sales.csv", bytes: TWO_MIB });
    return text;
  });

  const loaded = await step.do("load", async (ctx) => {
    const rows = extracted.split("\n").length;
    return env.warehouse.load({ file: "sales.csv", rows, key: stepKey(event, ctx) });
  });

  return { resultsOver1MiB: countOver1MiB(extracted, loaded) };
}
