import type { OutsideWorld } from "@durable-lessons/outside-world";
import { type Invitation, isSigned, type LinkEnv } from "../../review-link.ts";

type Approval = Invitation & { signature: string };

export async function handle(request: Request, env: OutsideWorld & LinkEnv) {
  const { draftId, signature, ...others } = await request.json<Approval>();
  await env.audit.log({ line: `Asked to approve ${draftId}` });

  const isGood = await isSigned(env, { draftId, ...others }, signature);
  if (!isGood || Date.now() >= Number(others.expires)) {
    return new Response("This link is not valid.", { status: 403 });
  }

  await env.site.publish({ articleId: draftId, text: "The text of the draft." });
  return new Response("Approved.");
}
