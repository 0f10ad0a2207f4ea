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

  const reviewed = await step.do("mail reviewer", async () => {
    await env.mail.send({ to: reviewer, subject: "Please review", text });
    return text;
  });

  const published = await step.do("publish article", async () => {
    await env.site.publish({ articleId: draftId, text });
    return text;
  });

  return { publishedAsReviewed: published === reviewed };
}
