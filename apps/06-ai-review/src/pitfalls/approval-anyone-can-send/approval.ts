import * as v from "valibot";

/** What somebody sends who approves a draft: an invitation, and the signature of its link. */
export const approval = v.object({
  draftId: v.string("draftId must be text"),
  sha256: v.string("sha256 must be text"),
  reviewer: v.string("reviewer must be text"),
  expires: v.string("expires must be text"),
  signature: v.string("signature must be text"),
});
