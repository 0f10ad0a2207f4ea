import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import { isTimeout } from "../../errors.ts";
import { EVENTS } from "../../events.ts";
import type { DraftRequest } from "../../schemas.ts";

// In milliseconds: here a day is soon over.
const HOUR = 50;

export async function run(
  event: WorkflowEvent<DraftRequest>,
  step: WorkflowStep,
  env: OutsideWorld & { DB: D1Database },
) {
  const { draftId, reviewer } = event.payload;

  try {
    await step.waitForEvent("wait for review", { type: EVENTS.draftReview, timeout: 24 * HOUR });
    return;
  } catch (error) {
    if (!isTimeout(error)) throw error;
  }

  await step.do("remind reviewer", (ctx) => {
    const mail = { to: reviewer, subject: "Still waiting", text: draftId };
    return env.mail.remind({ ...mail, key: stepKey(event, ctx) });
  });
}
