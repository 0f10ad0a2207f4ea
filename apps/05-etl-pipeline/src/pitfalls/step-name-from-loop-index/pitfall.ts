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
  for (const [index, file] of files.entries()) {
    const done = await step.do(`load file ${index}`, async () => {
      await env.warehouse.load({ file, rows: 1 });
      return file;
    });
    loaded.push(done);
  }
  await step.do("write report", () => env.audit.log({ line: loaded.join(", ") }));

  return { loaded: loaded.join(", ") };
}
