import type { OutsideWorld } from "@durable-lessons/outside-world";
import { issuesAsText } from "@durable-lessons/worker-helpers/http";
import * as v from "valibot";
import type { LinkEnv } from "../../review-link.ts";
import { approval } from "./approval.ts";

export async function handle(request: Request, env: OutsideWorld & LinkEnv) {
  const asked = v.safeParse(approval, await request.json().catch(() => null));
  if (!asked.success) {
    return Response.json({ error: issuesAsText(asked.issues) }, { status: 400 });
  }
  const { draftId } = asked.output;
  await env.audit.log({ line: `Asked to approve ${draftId}`, key: `ask-${draftId}` });

  const text = "The text of the draft.";
  await env.site.publish({ articleId: draftId, text, key: `publish-${draftId}` });
  return new Response("Approved.");
}
