/** Types of Workflow events: letters, digits, `-` and `_` only (Workflows documentation, "Events and parameters"). */
export const EVENTS = {
  /** A draft was reviewed. The event only wakes: the decision is in the draft's row. */
  draftReview: "draft-review",
  /** The same after the reminder: two waits, two types. */
  draftReviewReminded: "draft-review-reminded",
} as const;
