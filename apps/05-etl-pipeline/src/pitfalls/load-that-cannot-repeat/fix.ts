import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import { SALES } from "./sales.ts";

export async function run(
  event: WorkflowEvent<{ run: string }>,
  step: WorkflowStep,
  env: OutsideWorld & { DB: D1Database },
) {
  await step.do("load", { retries: { limit: 2, delay: 100 } }, async (ctx) => {
    await env.DB.prepare(
      `INSERT INTO keyed_sales (run, sale_id, minor)
       SELECT ?1, value ->> '$.id', value ->> '$.minor' FROM json_each(?2) WHERE true
       ON CONFLICT (run, sale_id) DO UPDATE SET minor = excluded.minor`,
    )
      .bind(event.payload.run, SALES)
      .run();
    await env.audit.log({ line: "3 rows loaded", key: stepKey(event, ctx) });
  });

  return step.do("count rows", () =>
    env.DB.prepare("SELECT COUNT(*) AS rows, SUM(minor) AS minor FROM keyed_sales WHERE run = ?1")
      .bind(event.payload.run)
      .first<{ rows: number; minor: number }>(),
  );
}
