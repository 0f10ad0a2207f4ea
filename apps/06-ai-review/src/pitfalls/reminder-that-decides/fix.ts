import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import { EVENTS } from "../../events.ts";
import type { DraftRequest } from "../../schemas.ts";
import { isYes } from "../is-yes.ts";
import { answerTo } from "./answer.ts";

const RETRIES = { retries: { limit: 2, delay: 100, backoff: "constant" } } as const;

export async function run(
  event: WorkflowEvent<DraftRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { draftId, reviewer } = event.payload;
  const mail = { to: reviewer, subject: "Please review", text: draftId };

  await step.do("mail reviewer", (ctx) => env.mail.send({ ...mail, key: stepKey(event, ctx) }));

  let answer = await answerTo(step, "wait for review", EVENTS.draftReview);
  if (answer === undefined) {
    const reminder = step.do("remind reviewer", RETRIES, (ctx) =>
      env.mail.remind({ ...mail, key: stepKey(event, ctx) }),
    );
    await reminder.catch((error: unknown) => console.error(error));
    answer = await answerTo(step, "wait once more", EVENTS.draftReviewReminded);
  }

  if (!isYes(answer)) {
    const line = `Closed: ${draftId}`;
    await step.do("note the end", (ctx) => env.audit.log({ line, key: stepKey(event, ctx) }));
    return { closed: true };
  }
  await step.do("publish article", (ctx) => {
    const text = "The text of the draft.";
    return env.site.publish({ articleId: draftId, text, key: stepKey(event, ctx) });
  });
  return { closed: false };
}
