/** The lesson's queues. `wrangler.jsonc` repeats the names, and a test compares the two. */
export const QUEUES = {
  orders: "orders",
  ordersDeadLetters: "orders-dlq",
} as const;
