/** Types of Workflow events: letters, digits, `-` and `_` only (Workflows documentation, "Events and parameters"). */
export const EVENTS = {
  /** A person's review of an order: the payload is an `OrderReview`. */
  orderReview: "order-review",
} as const;
