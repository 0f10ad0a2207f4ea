/**
 * Names that a sender and a receiver must spell alike. Code takes them from here; `wrangler.jsonc` repeats the
 * queues' names, and a test of each lesson compares the two.
 */

/** Queues of the lessons. */
export const QUEUES = {
  onboardingRequests: "onboarding-requests",
  onboardingRequestsDeadLetters: "onboarding-requests-dlq",
  orders: "orders",
  ordersDeadLetters: "orders-dlq",
  signups: "signups",
  signupsDeadLetters: "signups-dlq",
} as const;

/** Types of Workflow events: letters, digits, `-` and `_` only (Workflows documentation, "Events and parameters"). */
export const EVENTS = {
  /** A draft was reviewed. The event only wakes: the decision is in the draft's row. */
  draftReview: "draft-review",
  /** The same after the reminder: two waits, two types. */
  draftReviewReminded: "draft-review-reminded",
  /** A person's review of an order: the payload is an `OrderReview`. */
  orderReview: "order-review",
  /** Sent to an instance to make the local engine load it again after a crash. No step waits for it. */
  wake: "wake",
} as const;

/** Kinds of effects that the outside world remembers. Evidence counts them. */
export const EFFECTS = {
  accountOpened: "account.opened",
  alertSent: "alert.sent",
  articlePublished: "article.published",
  auditLogged: "audit.logged",
  cardCharged: "card.charged",
  cardDeclined: "card.declined",
  cardRefunded: "card.refunded",
  emailSent: "email.sent",
  modelCalled: "model.called",
  parcelRecalled: "parcel.recalled",
  parcelShipped: "parcel.shipped",
  reminderSent: "reminder.sent",
  rowsLoaded: "rows.loaded",
  sourceRead: "source.read",
  stockReleased: "stock.released",
  stockReserved: "stock.reserved",
} as const;

/** One of {@link EFFECTS}. */
export type EffectKind = (typeof EFFECTS)[keyof typeof EFFECTS];
