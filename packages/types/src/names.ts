/** Names that a sender and a receiver must spell alike. */

/**
 * Type of the event that makes the local engine load an instance again after a crash. No step waits for it. Letters,
 * digits, `-` and `_` only (Workflows documentation, "Events and parameters").
 */
export const WAKE_EVENT = "wake";

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
