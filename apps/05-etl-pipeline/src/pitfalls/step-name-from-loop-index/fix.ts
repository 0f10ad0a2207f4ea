import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import { listFolder } from "./late-file.ts";

export async function run(
  event: WorkflowEvent<{ folder: string }>,
  step: WorkflowStep,
  env: OutsideWorld & { FILES: R2Bucket },
) {
  const files = await listFolder(env.FILES, event.payload.folder);

  const loaded: string[] = [];
  for (const file of files) {
    const done = await step.do(`load ${file}`, async (ctx) => {
      await env.warehouse.load({ file, rows: 1, key: stepKey(event, ctx) });
      return file;
    });
    loaded.push(done);
  }
  const line = loaded.join(", ");
  // A list of other files is another report.
  await step.do("write report", (ctx) =>
    env.audit.log({ line, key: `${stepKey(event, ctx)}:${line}` }),
  );

  return { loaded: line };
}
