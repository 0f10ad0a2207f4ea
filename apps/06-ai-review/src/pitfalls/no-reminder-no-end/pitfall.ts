import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
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

  await step.waitForEvent("wait for review", { type: EVENTS.draftReview, timeout: "365 days" });

  await step.do("publish article", () =>
    env.site.publish({ articleId: draftId, text: "The text of the draft." }),
  );
  return { closed: false };
}
