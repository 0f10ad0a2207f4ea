import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { OnboardingRequest } from "../../schemas.ts";

const twice = { retries: { limit: 1, delay: 100 } };

export async function run(
  event: WorkflowEvent<OnboardingRequest>,
  step: WorkflowStep,
  env: OutsideWorld & { DB: D1Database },
) {
  const { userId, email, planType } = event.payload;

  await step.do("open account", twice, async (ctx) => {
    await env.DB.prepare(
      `INSERT INTO users (user_id, email, plan_type, created_at) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (user_id) DO NOTHING`,
    )
      .bind(userId, email, planType, Date.now())
      .run();
    await env.accounts.open({ userId, key: stepKey(event, ctx) });
  });
}
