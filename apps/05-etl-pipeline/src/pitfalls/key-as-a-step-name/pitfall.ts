import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { SourceFile } from "../../files.ts";

export async function run(
  event: WorkflowEvent<{ sources: SourceFile[] }>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { sources } = event.payload;
  for (const source of sources) {
    const name = `load ${source.file}`;
    await step.do(name, (ctx) =>
      env.warehouse.load({ file: source.file, rows: 1, key: stepKey(event, ctx) }),
    );
  }
  return { files: sources.length };
}
