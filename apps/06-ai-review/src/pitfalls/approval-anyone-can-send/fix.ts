import type { OutsideWorld } from "@durable-lessons/outside-world";
import { issuesAsText } from "@durable-lessons/worker-helpers/http";
import * as v from "valibot";
import { isSigned, type LinkEnv } from "../../review-link.ts";
import { approval } from "./approval.ts";

export async function handle(request: Request, env: OutsideWorld & LinkEnv) {
  const asked = v.safeParse(approval, await request.json().catch(() => null));
  if (!asked.success) {
    return Response.json({ error: issuesAsText(asked.issues) }, { status: 400 });
  }
  const { draftId, signature, ...others } = asked.output;
  await env.audit.log({ line: `Asked to approve ${draftId}`, key: `ask-${draftId}` });

  const isGood = await isSigned(env, { draftId, ...others }, signature);
  if (!isGood || Date.now() >= Number(others.expires)) {
    return new Response("This link is not valid.", { status: 403 });
  }

  const text = "The text of the draft.";
  await env.site.publish({ articleId: draftId, text, key: `publish-${draftId}` });
  return new Response("Approved.");
}
