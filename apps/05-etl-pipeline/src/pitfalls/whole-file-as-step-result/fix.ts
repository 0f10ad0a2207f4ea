import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import { countOver1MiB, TWO_MIB } from "./size.ts";

export async function run(
  event: WorkflowEvent<{ key: string }>,
  step: WorkflowStep,
  env: OutsideWorld & { FILES: R2Bucket },
) {
  const extracted = await step.do("extract", async () => {
    const { text } = await env.source.read({ file: "sales.csv", bytes: TWO_MIB });
    await env.FILES.put(event.payload.key, text);
    return event.payload.key;
  });

  const loaded = await step.do("load", async (ctx) => {
    const text = await (await env.FILES.get(extracted))?.text();
    const rows = text?.split("\n").length ?? 0;
    return env.warehouse.load({ file: "sales.csv", rows, key: stepKey(event, ctx) });
  });

  return { resultsOver1MiB: countOver1MiB(extracted, loaded) };
}
