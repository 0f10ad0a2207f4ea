import type { RunContext } from "@durable-lessons/lab";
import type { DraftRequest } from "../schemas.ts";

/** A draft of its own for every run. */
export const draftOf = ({ run }: RunContext): DraftRequest => ({
  draftId: run,
  prompt: "Why is tea green?",
  reviewer: "bob@example.com",
});
