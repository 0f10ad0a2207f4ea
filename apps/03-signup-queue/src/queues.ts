/** The lesson's queues. The Workers' configurations repeat the names, and a test compares them. */
export const QUEUES = {
  signups: "signups",
  signupsDeadLetters: "signups-dlq",
} as const;
