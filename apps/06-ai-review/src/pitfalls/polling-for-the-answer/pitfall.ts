import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import { findDraft } from "../../drafts.ts";
import type { DraftRequest } from "../../schemas.ts";

// In milliseconds: here a day is soon over.
const HOUR = 50;

export async function run(
  event: WorkflowEvent<DraftRequest>,
  step: WorkflowStep,
  env: OutsideWorld & { DB: D1Database },
) {
  const { draftId, reviewer } = event.payload;

  for (let hour = 1; hour <= 24; hour++) {
    const draft = await step.do(`look for review ${hour}`, () => findDraft(env.DB, draftId));
    if (draft?.decided_at) return;
    await step.sleep(`wait ${hour}`, HOUR);
  }

  await step.do("remind reviewer", (ctx) => {
    const mail = { to: reviewer, subject: "Still waiting", text: draftId };
    return env.mail.remind({ ...mail, key: stepKey(event, ctx) });
  });
}
