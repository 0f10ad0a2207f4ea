import { body, emailAddress, slug } from "@durable-lessons/types/fields";
import * as v from "valibot";

/** Longest prompt, in UTF-16 code units. */
export const MAX_PROMPT_LENGTH = 2000;

/** Body of `POST /drafts`, params of the draft Workflow. */
export const draftRequest = body({
  draftId: slug("draftId"),
  prompt: v.pipe(
    v.string("prompt must be text"),
    v.check((text) => text.trim() !== "", "prompt must not be empty"),
    v.maxLength(MAX_PROMPT_LENGTH, `prompt must be at most ${MAX_PROMPT_LENGTH} characters`),
    v.check((text) => text.isWellFormed(), "prompt must be well-formed Unicode"),
  ),
  reviewer: emailAddress("reviewer"),
});

/** A text that is wanted, and who decides about it, validated: see {@link draftRequest}. */
export type DraftRequest = v.InferOutput<typeof draftRequest>;

/** Body of the reviewer's form. */
export const draftReview = body({
  decision: v.picklist(["approve", "reject"], 'decision must be "approve" or "reject"'),
});
