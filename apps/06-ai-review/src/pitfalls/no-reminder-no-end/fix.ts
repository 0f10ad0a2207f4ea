import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import { isTimeout } from "../../errors.ts";
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

  let answer: unknown;
  try {
    const type = EVENTS.draftReview;
    const { payload } = await step.waitForEvent("wait for review", { type, timeout: 1000 });
    answer = payload;
  } catch (early) {
    if (!isTimeout(early)) throw early;
    await step.do("remind reviewer", (ctx) =>
      env.mail.remind({ ...mail, key: stepKey(event, ctx) }),
    );
    try {
      const type = EVENTS.draftReviewReminded;
      const { payload } = await step.waitForEvent("wait once more", { type, timeout: 1000 });
      answer = payload;
    } catch (late) {
      if (!isTimeout(late)) throw late;
      return { closed: true };
    }
  }

  if (!isYes(answer)) return { closed: true };
  await step.do("publish article", (ctx) => {
    const text = "The text of the draft.";
    return env.site.publish({ articleId: draftId, text, key: stepKey(event, ctx) });
  });
  return { closed: false };
}
