/** The lesson's queues. The Workers' configurations repeat the names, and a test compares them. */
export const QUEUES = {
  signups: "signups",
  signupsDeadLetters: "signups-dlq",
  /** Of dead letters that their own consumer could not read. Nothing consumes it. */
  signupsUnread: "signups-unread",
} as const;
