import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { Invitation, LinkEnv } from "../../review-link.ts";

type Approval = Invitation & { signature: string };

export async function handle(request: Request, env: OutsideWorld & LinkEnv) {
  const { draftId } = await request.json<Approval>();
  await env.audit.log({ line: `Asked to approve ${draftId}` });

  await env.site.publish({ articleId: draftId, text: "The text of the draft." });
  return new Response("Approved.");
}
