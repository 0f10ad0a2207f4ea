import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import { isTimeout } from "../../errors.ts";
import { EVENTS } from "../../events.ts";
import type { DraftRequest } from "../../schemas.ts";

export async function run(
  event: WorkflowEvent<DraftRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { draftId, reviewer } = event.payload;
  const mail = { to: reviewer, subject: "Please review", text: draftId };

  await step.do("mail reviewer", () => env.mail.send(mail));

  try {
    await step.waitForEvent("wait for review", { type: EVENTS.draftReview, timeout: 1000 });
  } catch (early) {
    if (!isTimeout(early)) throw early;
    await step.do("remind reviewer", () => env.mail.remind(mail));
    try {
      const type = EVENTS.draftReviewReminded;
      await step.waitForEvent("wait once more", { type, timeout: 1000 });
    } catch (late) {
      if (!isTimeout(late)) throw late;
      return { closed: true };
    }
  }

  await step.do("publish article", () =>
    env.site.publish({ articleId: draftId, text: "The text of the draft." }),
  );
  return { closed: false };
}
