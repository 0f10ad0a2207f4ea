import { stepKey } from "@durable-lessons/idempotency";
import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";
import type { DraftRequest } from "../../schemas.ts";

export async function run(
  event: WorkflowEvent<DraftRequest>,
  step: WorkflowStep,
  env: OutsideWorld,
) {
  const { draftId, prompt, reviewer } = event.payload;
  const messages = [{ role: "user", content: prompt }];

  const { response: text = "" } = await env.model.run("a-model", { messages });

  const reviewed = await step.do("mail reviewer", async (ctx) => {
    const key = stepKey(event, ctx);
    await env.mail.send({ to: reviewer, subject: "Please review", text, key });
    return text;
  });

  const published = await step.do("publish article", async (ctx) => {
    await env.site.publish({ articleId: draftId, text, key: stepKey(event, ctx) });
    return text;
  });

  return { publishedAsReviewed: published === reviewed };
}
