import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import { EVENTS } from "../../events.ts";
import type { DraftRequest } from "../../schemas.ts";
import { isYes } from "../is-yes.ts";

export async function run(
  event: WorkflowEvent<DraftRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { draftId, reviewer } = event.payload;
  const mail = { to: reviewer, subject: "Please review", text: draftId };

  await step.do("mail reviewer", (ctx) => env.mail.send({ ...mail, key: stepKey(event, ctx) }));

  const { payload: answer } = await step.waitForEvent("wait for review", {
    type: EVENTS.draftReview,
    timeout: "365 days",
  });

  if (!isYes(answer)) return { closed: true };
  await step.do("publish article", (ctx) => {
    const text = "The text of the draft.";
    return env.site.publish({ articleId: draftId, text, key: stepKey(event, ctx) });
  });
  return { closed: false };
}
